#
# This file is part of LitePCIe SoC.
#
# Copyright (c) 2026 LitePCIe SoC developers
# SPDX-License-Identifier: BSD-2-Clause

"""Makes Debian packages in build/deb: litepcie-dkms, litepcie-utils and liblitepcie-dev. `make deb` calls it.

It needs dpkg-deb, gzip and a C compiler. Equal sources give equal packages, byte for byte. There is no package of the
Python code: LiteX is not in Debian, so the package could not name what it needs.

Exit status: 0 made; 1 a step failed, and one line says which.
"""

import gzip
import os
import shutil
import subprocess
import sys
import tempfile

from pathlib import Path

from tools import check_version, tracked

ROOT       = tracked.ROOT
OUTPUT     = ROOT / "build" / "deb"
# As Debian's tools have it; the default is for packages that stay on one machine.
MAINTAINER = "{} <{}>".format(os.environ.get("DEBFULLNAME", "LitePCIe SoC developers"),
    os.environ.get("DEBEMAIL", "litepcie-soc@localhost"))
TIME       = 1735689600  # Of all files: packages do not depend on when they were made.

SCRIPT = "#!/bin/sh\n# SPDX-License-Identifier: BSD-2-Clause\n# Copyright (c) 2026 LitePCIe SoC developers\nset -e\n{}"

DKMS = {
    "postinst": 'if [ "$1" = configure ]; then\n'
                "\tdkms remove -m litepcie -v {version} --all > /dev/null 2>&1 || true\n"
                "\tdkms add -m litepcie -v {version}\n"
                "\t# Without the headers of the running kernel, DKMS builds the driver when they are installed.\n"
                '\tdkms autoinstall || echo "litepcie-dkms: the driver was not built; see dkms status" >&2\n'
                "fi\n",
    "prerm":    "dkms remove -m litepcie -v {version} --all || true\n",
}
UTILS = {
    "postinst": 'if [ "$1" = configure ]; then\n'
                "\t# The group of the udev rule.\n"
                "\tgetent group litepcie > /dev/null || groupadd --system litepcie\n"
                "\tudevadm control --reload > /dev/null 2>&1 || true\n"
                "fi\n",
}

# The folders and files of `make install` that the package for developers has.
DEVELOPMENT = ("usr/include", "usr/lib/pkgconfig", "usr/lib/liblitepcie.a", "usr/lib/liblitepcie.so",
    "usr/share/man/man3")

# Control fields, and text of the description.
PACKAGES = {
    "litepcie-dkms": ({"Architecture": "all", "Section": "kernel", "Depends": "dkms, make, gcc | c-compiler"},
        "driver for LitePCIe SoC cards, built by DKMS", "The sources of the driver, for every kernel with headers."),
    "litepcie-utils": ({"Architecture": "{arch}", "Section": "utils", "Depends": "libc6 (>= {libc}), passwd",
        "Recommends": "litepcie-dkms", "Triggers": "activate-noawait ldconfig"},
        "tool and library for LitePCIe SoC cards", "litepcie_util, litepcie_rescan, liblitepcie, and a udev rule."),
    "liblitepcie-dev": ({"Architecture": "{arch}", "Section": "libdevel", "Depends": "litepcie-utils (= {version})"},
        "headers of liblitepcie", "Headers, the static library and the file for pkg-config."),
}


class DebError(Exception):
    """A failure, with a message of one line."""


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if result.returncode:
        lines = (result.stderr or result.stdout).strip().splitlines() or ["no reason given"]
        raise DebError(f"{' '.join(map(str, command[:2]))}: {lines[-1]}")
    return result.stdout.strip()

# Files --------------------------------------------------------------------------------------------


def lay_out_driver(folder, version):
    """Copies the sources of the driver that the commit has to where DKMS looks for them."""
    for path in tracked.files():
        if path.startswith("software/kernel/"):
            target = folder / "usr" / "src" / f"litepcie-{version}" / Path(path).relative_to("software/kernel")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)


def lay_out_software(utils, development, build):
    """Installs library and tool, and moves what only developers need."""
    make = ["make", "-s", "-C", ROOT / "software" / "user", f"BUILD={build}", "PREFIX=/usr", f"DESTDIR={utils}"]
    run(*make, "install")
    run("strip", "--strip-unneeded", utils / "usr/bin/litepcie_util", *utils.glob("usr/lib/liblitepcie.so.?.*"))
    for name in DEVELOPMENT:
        (development / name).parent.mkdir(parents=True, exist_ok=True)
        (utils / name).rename(development / name)
    for page in [*utils.glob("usr/share/man/man1/*.1"), *development.glob("usr/share/man/man3/*.3")]:
        compress(page)


def compress(path):
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    path.unlink()


def document(folder, name):
    """Adds licences and changelog, which every package has."""
    documents = folder / "usr" / "share" / "doc" / name
    documents.mkdir(parents=True)
    head = "LitePCIe SoC\nCopyright (c) 2026 LitePCIe SoC developers\n\nEach source names its licence at its top.\n"
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "LICENSES").iterdir())]
    (documents / "copyright").write_text("\n\n".join([head, *texts]), encoding="utf-8")
    shutil.copyfile(ROOT / "CHANGELOG.md", documents / "changelog")
    compress(documents / "changelog")

# Packages -----------------------------------------------------------------------------------------


def control(folder, name, values, scripts):
    """Writes DEBIAN/ of a package."""
    fields, summary, text = PACKAGES[name]
    fields   = {key: value.format(**values) for key, value in fields.items()}
    triggers = fields.pop("Triggers", None)
    size     = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) // 1024 + 1
    lines    = {"Package": name, "Version": values["version"], **fields, "Installed-Size": size, "Priority": "optional",
        "Maintainer": MAINTAINER, "Description": f"{summary}\n {text}"}
    (folder / "DEBIAN").mkdir()
    (folder / "DEBIAN" / "control").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
    if triggers:
        (folder / "DEBIAN" / "triggers").write_text(triggers + "\n")
    for script, body in scripts.items():
        (folder / "DEBIAN" / script).write_text(SCRIPT.format(body.format(**values)))
        (folder / "DEBIAN" / script).chmod(0o755)


def settle(folder):
    """Sets modes and times, which would otherwise depend on who makes the package and when."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        os.utime(path, (TIME, TIME), follow_symlinks=False)


def make(output=OUTPUT):
    """Makes all packages, and returns their paths."""
    version = check_version.version()
    values  = {"version": version, "arch": run("dpkg", "--print-architecture"),
        "libc": run("dpkg-query", "-W", "-f", "${Version}", "libc6").split("-")[0]}
    output.mkdir(parents=True, exist_ok=True)
    made = []
    with tempfile.TemporaryDirectory(prefix="litepcie-deb-") as scratch:
        folders = {name: Path(scratch) / name for name in PACKAGES}
        lay_out_driver(folders["litepcie-dkms"], version)
        lay_out_software(folders["litepcie-utils"], folders["liblitepcie-dev"], Path(scratch) / "build")
        scripts = {"litepcie-dkms": DKMS, "litepcie-utils": UTILS}
        for name, folder in folders.items():
            document(folder, name)
            control(folder, name, values, scripts.get(name, {}))
            settle(folder)
            architecture = PACKAGES[name][0]["Architecture"].format(**values)
            made.append(output / f"{name}_{version}_{architecture}.deb")
            run("dpkg-deb", "--root-owner-group", "--build", folder, made[-1],
                env=dict(os.environ, SOURCE_DATE_EPOCH=str(TIME)))
    return made


def main():
    try:
        print("\n".join(str(path) for path in make()))
    except (DebError, OSError) as error:
        print(f"make_deb: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
