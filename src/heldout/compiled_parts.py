"""How loops, and the functions that only they call, are compiled in less time than Numba takes.

Most of that time is Numba's own, not that of the optimiser: finding types, and steps that change
nothing in plain loops. Here steps are left out, and what was found about an operation and the types
of its arguments is used again. The code is the same.

Numba also optimises every function and turns it into machine code, even if it is only called by
other compiled functions, where it is optimised once more. Here that is done there only.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import NativeLowering

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["KernelCompiler", "PartCompiler"]

_LEFT_OUT: Final = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "DumpParforDiagnostics",
}
"""Steps for closures, context managers, array expressions and so on: loops have none of them."""

_SIGNATURES: Final[dict[Any, Any]] = {}


@contextmanager
def _remembered_signatures() -> Iterator[None]:
    """Find the signature of each operation and types of arguments once.

    Numba tries dozens of rules for every addition in a function, and does so twice. All compilation
    is done under Numba's lock, so that nobody else gets answers from here.
    """
    asked: Any = types.BaseFunction
    usual = asked.get_call_type

    def answer(function: Any, context: Any, args: Any, kws: Any) -> Any:
        flags: Any = ConfigStack.top_or_none()  # type: ignore[no-untyped-call]
        key = (function, tuple(args), tuple(kws.items()), flags.nrt, flags.error_model)
        chosen = function._impl_keys  # noqa: SLF001 - where Numba notes which code to call
        if key not in _SIGNATURES:
            found = usual(function, context, args, kws)
            _SIGNATURES[key] = found, chosen[found.args]
        found, chosen[found.args] = _SIGNATURES[key]
        return found

    asked.get_call_type = answer
    try:
        yield
    finally:
        asked.get_call_type = usual


class _PartLibrary(JITCodeLibrary):
    """Code to be linked into that of kernels."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
class _PartLowering(NativeLowering):
    """Numba's last step, without machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Generate the code, and register it for those who call it."""
        codegen = state.targetctx.codegen()
        state.library = _PartLibrary(codegen, state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state.library.enable_object_caching()
        state.flags.no_compile = True
        state.flags.noalias = True  # its arrays do not overlap
        super().run_pass(state)  # type: ignore[no-untyped-call]
        lowered, library = state["cr"], state.library
        described = lowered.fndesc
        if getattr(state.func_id.func, "separate", False):
            own = library._final_module.get_function(described.llvm_func_name)  # noqa: SLF001
            own.add_function_attribute("noinline")
        # What Numba makes otherwise, too, but with the address 0: it is never called from Python.
        name = described.qualname.split(".")[-1]
        function = _dynfunc.make_function(
            described.lookup_module(), name, "", 0, lowered.env, (library,)
        )
        state.targetctx.insert_user_function(function, described, [library])
        state["cr"] = lowered._replace(cfunc=function)
        return True


class KernelCompiler(CompilerBase):
    """Numba's compiler, with fewer steps."""

    last_step: Any = NativeLowering

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, and before it those that it calls."""
        with _remembered_signatures():
            return super().compile_extra(func)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        steps: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        steps.passes = [
            (self.last_step if step is NativeLowering else step, text)
            for step, text in steps.passes
            if step.__name__ not in _LEFT_OUT
        ]
        steps._finalized = False  # noqa: SLF001 - finalize does nothing otherwise
        steps.finalize()
        return [steps]


class PartCompiler(KernelCompiler):
    """The same, with another last step."""

    last_step = _PartLowering
