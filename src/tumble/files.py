"""Files that are safe: never half written, never in use twice, and harmless when a stranger wrote them.

    replace_file(Path("a.json"), lambda file: file.write(data))      # a crash leaves the old file or the new
    with locked(Path("a.learned")) as file:                          # for this process alone
        header, arrays = read_arrays(file, Header, ["states"], largest=1 << 20)

Nothing that is read here is executed, and all sizes are checked before memory is taken. A mistake of the user's is a
UserError; what is wrong inside of a file is `Spoiled`, or whatever zipfile, numpy and msgspec raise, for the caller to
say whose file it is. Whoever reads, and why, is not known here.
"""

import contextlib
import errno
import io
import itertools
import math
import os
import re
import secrets
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from tumble.errors import UserError

try:
    import fcntl
except ImportError:  # not on Windows, where nobody is kept from opening a file twice
    fcntl = None  # type: ignore[assignment]

FORMATS = re.compile(r"tumble [a-z]+ [0-9]+")
LONGEST = 16 << 20  # bytes of a header that says a format
LONGEST_TOP = 1 << 16  # bytes of the lines of text that records come after
UNSURE = 64  # records at the end of a file that a power cut may leave unwritten: two seconds of frames

LARGEST_TEXT = 1 << 16  # bytes of a style, a gait

Header = TypeVar("Header", bound=msgspec.Struct)
T = TypeVar("T")


class Spoiled(Exception):
    """A file that is not whole, and why."""

    def __str__(self) -> str:
        # escaped: a stranger's file may hold what a terminal obeys
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in super().__str__())


class InUse(UserError):
    """A file that another process has locked."""


# Places ---------------------------------------------------------------------------------------------


def check_place(path: Path) -> None:
    """Refuse a path that cannot become a file: its folder is missing, or it is a folder itself.

    For the beginning of long work: whether it can be written is only known when it is.
    """
    if not os.path.isdir(path.parent):
        raise UserError(f"no folder {path.parent} to write {path.name} into")
    if os.path.isdir(path):
        raise UserError(f"cannot write {path}: it is a folder")


def make_folder(path: Path) -> None:
    """Make a folder and those that it is in, where they are missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {path}: {error.strerror}") from None


def read_bytes(path: Path, what: str, largest: int) -> bytes | None:
    """All bytes of a file, None where there is none; refuses one that is too large for what it should be."""
    try:
        with open(path, "rb") as file:
            data = file.read(largest + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > largest:
        raise UserError(f"{path} is too large for {what}; move it away")
    return data


def read_text(path: Path, what: str, most: int = -1) -> str:
    """The UTF-8 text of a file, `most` characters of it; `what` it is stands in the error.

    Whoever wants to know whether there was more asks for one character more than it takes.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(most)
    except (OSError, UnicodeError) as error:
        raise UserError(f"cannot read {what}: {error}") from None


def text_of(data: bytes, what: str, where: str, read: Callable[[str], T], largest: int = LARGEST_TEXT) -> T:
    """What read(text) makes of the bytes of a small file that a stranger may have written.

    Args:
      what, where: in the error that says what is wrong with it: 'style', 'mine.toml'.
      read: may raise UserError, whose sentence stays.
      largest: bytes.
    """
    if len(data) > largest:
        most, got = largest >> 10, len(data) >> 10
        raise UserError(f"not a {what} ({where}): a {what} has at most {most} KB, got {got} KB")
    try:
        return read(data.decode())
    except UserError:
        raise
    except (ValueError, RecursionError) as error:  # no UTF-8, too many digits, too many brackets
        raise UserError(f"not a {what} ({where}): {error}") from None


def replace_file(path: Path, write: Callable[[Any], Any]) -> None:
    """Call write(file) on a temporary file in path's folder, flush it to disk, rename it to path.

    Whoever reads meanwhile has the old file, and so has everybody where anything fails: the temporary one is deleted
    then, and what `write` raised is raised. Who is killed leaves it behind; see `sweep`. A link at path is replaced.

    Args:
      path: where it shall be.
      write: given the open binary file.
    """
    check_place(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError):
            raise UserError(f"cannot write {path}: {error.strerror or error}") from None
        raise


def replace_locked(path: Path, write: Callable[[Any], Any]) -> Any:
    """As `replace_file`, the file a link points to; the new file, which is locked before it has its name.

    So there is no moment in which another process could lock what is at path. The file that was there stays locked
    until its owner closes it.
    """
    handles = list[Any]()

    def write_and_hold(file: Any) -> None:
        write(file)
        _lock(file)
        handles.append(os.fdopen(os.dup(file.fileno()), "rb", buffering=0))

    try:
        replace_file(Path(os.path.realpath(path)), write_and_hold)
    except BaseException:
        for handle in handles:
            handle.close()
        raise
    return handles[0]


def sweep(path: Path) -> None:
    """Delete what a process that was killed in `replace_file` left beside a file, which nobody else may have now."""
    place = Path(os.path.realpath(path))
    left = re.compile(re.escape(f".{place.name}.") + "[0-9a-f]{16}")
    with contextlib.suppress(OSError):
        for name in os.listdir(place.parent):
            if left.fullmatch(name):
                os.unlink(place.with_name(name))


def opened(path: Path, mode: str) -> Any:
    """The file, unbuffered."""
    try:
        return open(path, mode, buffering=0)
    except OSError as error:
        raise UserError(f"cannot open {path}: {error.strerror}") from None


def locked(path: Path) -> Any:
    """The file, unbuffered, made if need be, for this process alone to append to or to replace until it is closed.

    The lock is the system's (flock): it ends with the process, however that ends, and holds only among those who ask
    for it. Without locks, on Windows and on some file systems of networks, nobody is kept out.
    """
    while True:
        file = opened(path, "a+b")
        try:
            _lock(file)
        except BlockingIOError:
            file.close()
            raise InUse(f"{path} is in use by another process; wait for its end, or choose another file") from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()  # who had it before has just replaced it, moved it aside or deleted it


def _lock(file: Any) -> None:
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass  # a file system without locks


def move_aside(path: Path) -> Path:
    """Give a spoiled file a name that no other has, and return it: a.corrupt, a.corrupt-2 and so on.

    It is never deleted: what looks spoiled to this version may be read by another, or by its owner.
    """
    names = (f"{path.name}.corrupt{f'-{i}' if i > 1 else ''}" for i in itertools.count(1))
    aside = next(place for name in names if not os.path.lexists(place := path.with_name(name)))
    try:
        os.rename(path, aside)
    except OSError as error:
        raise UserError(f"cannot move {path} aside, which is spoiled: {error.strerror}") from None
    return aside


def check_bytes(file: Any, largest: int) -> int:
    """How many bytes an open file has; Spoiled where that is too many."""
    size = os.fstat(file.fileno()).st_size
    if size > largest:
        raise Spoiled(f"it has {size >> 20} MiB, {largest >> 20} at most")
    return size


# Arrays with a header: npz --------------------------------------------------------------------------


class _Titled(msgspec.Struct):
    """What all headers in an npz file have."""

    format: str


def write_arrays(file: Any, header: msgspec.Struct, arrays: Mapping[str, np.ndarray], compressed: bool) -> None:
    """Write an npz file of a header, as JSON in bytes, and arrays; floats of a motion hardly shrink."""
    save = np.savez_compressed if compressed else np.savez
    save(file, header=np.frombuffer(msgspec.json.encode(header), np.uint8), **arrays)  # type: ignore[arg-type]


def read_arrays(
    file: Any, kind: type[Header], names: Collection[str], largest: int
) -> tuple[Header, dict[str, np.ndarray]]:
    """The header and arrays by name of an npz file, an open one or a path.

    Raises what zipfile, numpy and msgspec do, and ValueError for other arrays than these and for more bytes than
    `largest`, before it takes any.
    """
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: info.file_size for info in archive.infolist()}
        if set(members) != {f"{name}.npy" for name in ("header", *names)}:
            # escaped: a stranger's file may hold what a terminal obeys
            raise ValueError(f"it holds {', '.join(ascii(name)[1:-1] for name in sorted(members)[:9]) or 'nothing'}")
        if sum(members.values()) > largest:
            raise ValueError(f"it would unpack to {sum(members.values()) >> 20} MiB")
        raw, arrays = _array_of(archive, "header"), {name: _array_of(archive, name) for name in names}
    return msgspec.json.decode(raw.tobytes(), type=kind), arrays


def read_checked(
    path: Path, kind: type[Header], names: Collection[str], largest: int,
    checked: Callable[[Header, dict[str, np.ndarray]], T], what: str, advice: str,
) -> T:  # fmt: skip
    """What `checked` makes of the header and arrays of the npz file at a path.

    Args:
      largest: bytes, packed and unpacked.
      checked: raises ValueError, KeyError or UserError where they do not fit.
      what, advice: say of another file "PATH {what} that can be read (why){advice}".
    """
    try:
        with opened(path, "rb") as file:
            check_bytes(file, largest)
            return checked(*read_arrays(file, kind, names, largest))
    except (OSError, ValueError, KeyError, EOFError, Spoiled, zipfile.BadZipFile, msgspec.MsgspecError) as error:
        raise UserError(f"{path} {what} that can be read ({error}){advice}") from None


def _array_of(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """A member's array, of the bytes that are there: what it claims takes no memory, and no object is read."""
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack all before they are asked
        raise ValueError(f"its {name} are compressed otherwise than numpy does it")
    with archive.open(info) as member:
        data = member.read(info.file_size)  # no more, whatever is there
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError(f"its {name} are of another .npy version than 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(data) - file.tell() or min(shape, default=0) < 0:
        raise ValueError(f"its {name} have {len(data) - file.tell()} bytes for {shape} of type {dtype}")
    array = np.frombuffer(data, dtype, math.prod(shape), file.tell())
    return array.reshape(shape, order="F" if fortran else "C").copy()


def header_of(file: Any, kind: type[Header]) -> Header:
    """What the header of an npz file says that a kind knows of; raises what zipfile, numpy and msgspec do.

    Arrays beside it are not read: this is for files of any version.
    """
    with zipfile.ZipFile(file) as archive:
        if archive.getinfo("header.npy").file_size > LONGEST:
            raise ValueError(f"its header has more than {LONGEST >> 20} MiB")
        return msgspec.json.decode(_array_of(archive, "header").tobytes(), type=kind)


def format_of(file: Any) -> str:
    """Which of tumble's formats an open file says it has, 'tumble recording 1' for instance; '' where it says none."""
    file.seek(0)
    top = file.read(80)
    said = top.partition(b"\n")[0].decode("ascii", "replace")
    if top.startswith(b"PK"):
        try:
            said = header_of(file, _Titled).format
        except Exception:  # a stranger's bytes; whoever reads it says what is wrong
            said = ""
    file.seek(0)
    return said if FORMATS.fullmatch(said) else ""


# Records that are appended --------------------------------------------------------------------------


class Records:
    """Rows of float32 tables, appended to an open file one record a row, each with a checksum.

    A file is three lines of text (the format, a JSON object, its checksum) and then records of one size. Whoever is
    killed while appending leaves whole records and a part of one, which is cut off with the next appending.

        records = Records("tumble experience 1", header, {"situations": 45, "plans": 120}, largest=4 << 30)
        with locked(path) as file:
            found = records.read_header(file, Header)       # None: the file was just begun
            tables, left_out = records.read(file, 100_000)
            records.append(file, {"situations": ..., "plans": ...})
    """

    def __init__(self, format: str, header: msgspec.Struct, widths: Mapping[str, int], largest: int) -> None:
        text = msgspec.json.encode(header)
        self.top = b"%s\n%s\n%08x\n" % (format.encode(), text, zlib.crc32(text))
        self._format, self._largest, self._names = format, largest, tuple(widths)
        self._kind = np.dtype([*((name, "<f4", (width,)) for name, width in widths.items()), ("checksum", "<u4")])
        self._end = 0  # bytes of the file that are whole

    def read_header(self, file: Any, kind: type[Header]) -> Header | None:
        """What a file says of itself; None where it holds nothing but a part of what ours would begin with."""
        check_bytes(file, self._largest)
        file.seek(0)
        top: bytes = file.read(LONGEST_TOP)
        if self.top.startswith(top):  # it was being begun
            self._end = 0 if len(top) < len(self.top) else len(top)
            return None
        form, text, checksum, *_ = [*top.split(b"\n", 3), b"", b""]
        if form != self._format.encode():
            raise Spoiled(f"it does not begin with '{self._format}'")
        if checksum != b"%08x" % zlib.crc32(text):
            raise Spoiled("the checksum of its header is wrong")
        self._end = len(form) + len(text) + len(checksum) + 3
        try:
            return msgspec.json.decode(text, type=kind)
        except Exception as error:  # a stranger's bytes: also RecursionError
            raise Spoiled(f"its header says nothing: {str(error) or type(error).__name__}") from None

    def read(self, file: Any, newest: int) -> tuple[dict[str, np.ndarray], int]:
        """The newest rows that were appended, oldest first, by name; and how many at the end were not written whole."""
        start, size = self._end, self._kind.itemsize
        whole = (os.fstat(file.fileno()).st_size - start) // size
        count = min(whole, newest)
        file.seek(start + (whole - count) * size)
        records = np.fromfile(file, self._kind, count)
        bad = np.flatnonzero(records["checksum"] != _checksums(records))
        if bad.size > UNSURE or (bad.size and bad[0] + bad.size < len(records)):  # there are good ones after a bad one
            raise Spoiled(f"the checksum of record {whole - count + bad[0] + 1} of {whole} is wrong")
        records = records[: len(records) - bad.size]
        self._end = start + (whole - bad.size) * size
        return {name: records[name] for name in self._names}, bad.size

    def append(self, file: Any, tables: Mapping[str, np.ndarray]) -> None:
        """Write rows, after the header where there is none yet, and have them on the disk."""
        records = np.empty(len(tables[self._names[0]]), self._kind)
        for name in self._names:
            records[name] = tables[name]
        records["checksum"] = _checksums(records)
        data = records.tobytes() if self._end else self.top + records.tobytes()
        if self._end + len(data) > self._largest:
            raise OSError(errno.EFBIG, f"it would have more than {self._largest >> 20} MiB; choose another file")
        if os.fstat(file.fileno()).st_size != self._end:
            file.truncate(self._end)  # the rest was not whole
        write_all(file, data)
        os.fsync(file.fileno())
        self._end += len(data)


def write_all(file: Any, data: bytes) -> None:
    """Write all of it to an unbuffered file, in one go where the system takes it."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _checksums(records: np.ndarray) -> np.ndarray:
    """(n,) of all but the last 4 bytes of each."""
    data, width = memoryview(records.tobytes()), records.itemsize
    sums = (zlib.crc32(data[i * width : (i + 1) * width - 4]) for i in range(len(records)))
    return np.fromiter(sums, np.uint32, len(records))
