"""A cluster with TLS: reached with certificates of Dask's own configuration, and not without."""

import os
import shutil
import subprocess
import sys

import pytest
from experiment_data import small_collection, table_bytes

from heldout.cli import main
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


def command(output, *options):
    fixed = ["run", "data", "--system", "bm25", "--folds", "2", "--quiet"]
    return [*fixed, "-o", output, *options]


def test_with_certificates_and_without(tmp_path, cluster, certificate, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    export_collection(small_collection(20, 8), tmp_path / "data")
    address = cluster.scheduler_address
    assert address.startswith("tls://")
    settings = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": certificate[0],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": certificate[0],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": certificate[1],
    }
    main(command("here"))
    done = subprocess.run(  # noqa: S603 - this Python
        [
            *(sys.executable, "-c", "from heldout.cli import main; main()"),
            *command("there", "--dask", address),
        ],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert table_bytes(tmp_path / "there") == table_bytes(tmp_path / "here")
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(command("without", "--dask", address))
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "does Dask's configuration name the certificates" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "without" / "manifest.json").exists()
