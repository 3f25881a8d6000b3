"""The build backend: setuptools', which works in a temporary folder and leaves nothing in the tree."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from setuptools import build_meta

CONFIG = """\
[build]
build_base = {folder}/build
[egg_info]
egg_base = {folder}
[bdist_wheel]
bdist_dir = {folder}/wheel
"""
NAME = "DIST_EXTRA_CONFIG"  # the file that setuptools reads beside the project's own

get_requires_for_build_editable = build_meta.get_requires_for_build_editable
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable
build_editable = build_meta.build_editable


@contextmanager
def elsewhere():
    before = os.environ.get(NAME)
    with tempfile.TemporaryDirectory(prefix="lego-emit-") as folder:
        config = Path(folder, "setup.cfg")
        config.write_text(CONFIG.format(folder=folder))
        os.environ[NAME] = str(config)
        try:
            yield
        finally:
            if before is None:
                del os.environ[NAME]
            else:
                os.environ[NAME] = before


def get_requires_for_build_wheel(config_settings=None):
    with elsewhere():
        return build_meta.get_requires_for_build_wheel(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with elsewhere():
        return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with elsewhere():
        return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def get_requires_for_build_sdist(config_settings=None):
    with elsewhere():
        return build_meta.get_requires_for_build_sdist(config_settings)


def build_sdist(sdist_directory, config_settings=None):
    with elsewhere():
        return build_meta.build_sdist(sdist_directory, config_settings)
