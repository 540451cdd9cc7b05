# SPDX-License-Identifier: Apache-2.0
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "at_length: takes more than 4 s; CTest has these as a test of their own")


@pytest.fixture(scope="session", autouse=True)
def compiled_here(tmp_path_factory):
    """Triton keeps what it has compiled, for all tests, in the tests' own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "triton"))
        yield
