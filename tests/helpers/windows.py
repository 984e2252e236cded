"""A system that lacks what Windows lacks, in a process of its own: what is run there first, and how.

Beyond missing names it is as strict as Windows: no file is replaced or removed while this process has it open, folders
are not opened, text is in a code page with line ends of two characters, temporary files have names.
"""

import os
import subprocess
import sys
import textwrap

PREAMBLE = '''
import builtins, errno, io, os, signal, stat, sys
import tempfile  # before anything is refused: its files are removed by the system there, when the last handle is closed

for name in ("fcntl", "resource", "pwd", "grp", "termios", "pty", "syslog", "thundersvm"):
    sys.modules[name] = None
for module, names in (
    (os, "O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_NOCTTY O_SYNC fork forkpty register_at_fork sched_getaffinity "
         "sched_setaffinity getuid geteuid getgid getegid getpgid killpg sysconf getloadavg fchmod fchown chown mkfifo "
         "pread pwrite posix_fallocate sendfile"),
    (signal, "SIGHUP SIGALRM SIGKILL SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE SIGQUIT SIGTSTP alarm setitimer getitimer "
             "pthread_kill pthread_sigmask siginterrupt sigwait pause"),
):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

def refuse(winerror, path, error=PermissionError, number=errno.EACCES):
    raised = error(number, os.strerror(number), path)
    raised.winerror = winerror
    raise raised

def is_open(path):
    found = os.path.join(os.path.realpath(os.path.dirname(path) or "."), os.path.basename(path))
    for descriptor in listdir("/proc/self/fd"):
        try:
            if readlink("/proc/self/fd/" + descriptor) == found:
                return True
        except OSError:
            pass
    return False

def is_unknown(path):
    return isinstance(path, str) and path.startswith(("/dev/std", "/dev/fd", "/dev/tty", "/proc/", "/sys/"))

listdir, readlink = os.listdir, os.readlink
before = {name: getattr(os, name) for name in ("open", "stat", "replace", "rename", "unlink", "remove")}

def system_open(path, *args, **kwargs):
    if os.path.isdir(path):
        refuse(5, path)
    return before["open"](path, *args, **kwargs)

def system_stat(path, *args, **kwargs):
    if is_unknown(os.fspath(path) if not isinstance(path, int) else path):
        refuse(3, path, FileNotFoundError, errno.ENOENT)
    return before["stat"](path, *args, **kwargs)

def moving(name):
    def move(source, target, **kwargs):
        for path in (source, target):
            if is_open(os.fspath(path)):
                refuse(32, source)
        if name == "rename" and os.path.exists(target):
            refuse(183, source, FileExistsError, errno.EEXIST)
        if os.path.exists(target) and not before["stat"](target).st_mode & stat.S_IWRITE:
            refuse(5, source)
        return before[name](source, target, **kwargs)
    return move

def removing(name):
    def remove(path, **kwargs):
        if "dir_fd" not in kwargs or kwargs["dir_fd"] is None:
            if is_open(os.fspath(path)):
                refuse(32, path)
            if not os.path.islink(path) and os.path.exists(path) and not before["stat"](path).st_mode & stat.S_IWRITE:
                refuse(5, path)
        return before[name](path, **kwargs)
    return remove

plain_open = builtins.open

def text_open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *args, **kwargs):
    if isinstance(file, (str, os.PathLike)) and is_unknown(os.fspath(file)):
        refuse(3, file, FileNotFoundError, errno.ENOENT)
    if "b" not in mode:
        encoding = encoding or "cp1252"
        if newline is None and "r" not in mode:
            newline = "\\r\\n"
    return plain_open(file, mode, buffering, encoding, errors, newline, *args, **kwargs)

os.open, os.stat, builtins.open, io.open = system_open, system_stat, text_open, text_open
for name in ("replace", "rename"):
    setattr(os, name, moving(name))
for name in ("unlink", "remove"):
    setattr(os, name, removing(name))
sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding="cp1252")
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="cp1252", newline="\\r\\n")
import multiprocessing
multiprocessing.set_start_method("spawn")
tempfile.TemporaryFile = tempfile.NamedTemporaryFile
'''

COMMAND = "import runpy; runpy.run_module('evoke', run_name='__main__')"


def on_windows(program, *arguments, given=b""):
    """Run a program there, or with COMMAND the command line; stdout and stderr are bytes."""
    return subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(program), *map(str, arguments)],
        env=os.environ | {"EVOKE_THUNDERSVM_LIB": "/nowhere/libthundersvm.so"}, input=given, capture_output=True,
        check=False,
    )  # fmt: skip
