"""A cluster with TLS: reached with certificates of Dask's own configuration, and not without."""

import os
import shutil
import subprocess
import sys

import pytest
from experiment_data import small_collection, table_bytes

from heldout.data.export import export_collection

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="needs openssl for a certificate")


@pytest.fixture
def certificate(tmp_path):
    """A certificate that signs itself, with its key."""
    made = [str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")]
    subject = ["-nodes", "-days", "30", "-subj", "/CN=heldout"]
    command = ["req", "-x509", "-newkey", "rsa:2048", *subject, "-out", made[0], "-keyout", made[1]]
    subprocess.run([OPENSSL, *command], check=True, capture_output=True)  # noqa: S603
    return made


@pytest.fixture
def cluster(certificate):
    cert, key = certificate
    files = {f"tls_{role}_cert": cert for role in ("scheduler", "worker", "client")}
    files |= {f"tls_{role}_key": key for role in ("scheduler", "worker", "client")}
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        protocol="tls://",
        security=distributed.Security(tls_ca_file=cert, require_encryption=True, **files),
        silence_logs=50,
    ) as one:
        yield one


def run(folder, output, *options, **environment):
    command = [sys.executable, "-c", "from heldout.cli import main; main()", "run", "data"]
    return subprocess.run(  # noqa: S603 - this Python
        [*command, "--system", "bm25", "--folds", "2", "--quiet", "-o", output, *options],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_with_certificates_and_without(tmp_path, cluster, certificate):
    export_collection(small_collection(20, 8), tmp_path / "data")
    address = cluster.scheduler_address
    assert address.startswith("tls://")
    settings = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": certificate[0],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": certificate[0],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": certificate[1],
    }
    assert run(tmp_path, "here").returncode == 0
    done = run(tmp_path, "there", "--dask", address, **settings)
    assert done.returncode == 0, done.stderr
    assert table_bytes(tmp_path / "there") == table_bytes(tmp_path / "here")
    without = run(tmp_path, "without", "--dask", address)
    assert without.returncode == 2
    assert "does Dask's configuration name the certificates" in without.stderr
    assert without.stderr.count("\n") == 1
    assert not (tmp_path / "without" / "manifest.json").exists()
