"""The Python wheel `capsid-cli`, by hatchling: `pip install` puts the program on the PATH."""

import shutil

from .common import ADDRESS, DESCRIPTION, PACKAGING, VERSION, run, tool


def pack(unpacked, out):
    project = unpacked.work / "wheel"
    shutil.copytree(PACKAGING / "wheel", project)
    (project / "bin").mkdir()
    shutil.copy(unpacked.program, project / "bin" / unpacked.program.name)
    for name in ("LICENSE", "NOTICE", "THIRD-PARTY.txt"):
        shutil.copy(unpacked.tree / name, project / name)
    (project / "version.py").write_text(f'__version__ = "{VERSION}"\n')
    (project / "README.md").write_text(readme("pip install capsid-cli"))
    variables = {"WHEEL_PLATFORM": unpacked.system.wheel, "WHEEL_ADDRESS": ADDRESS}
    command = [tool("hatchling"), "build", "-t", "wheel", "-d", unpacked.work / "out"]
    run(command, cwd=project, variables=variables, capture_output=True)
    (made,) = (unpacked.work / "out").glob("*.whl")
    return shutil.copy(made, out)


def readme(install):
    text = f"# Capsid\n\n{DESCRIPTION}\n\n```\n{install}\ncapsid demo\n```\n\nThis package holds the program `capsid`.\n"
    return text + (f"See {ADDRESS}.\n" if ADDRESS else "")
