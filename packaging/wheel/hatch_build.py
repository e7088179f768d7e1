"""What the wheel of a program needs to say: for which systems it is, and where it comes from."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class PlatformTag(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["tag"] = "py3-none-" + os.environ["WHEEL_PLATFORM"]


class Address(MetadataHookInterface):
    def update(self, metadata):
        address = os.environ.get("WHEEL_ADDRESS")
        metadata["urls"] = {"Source": address} if address else {}
