"""database - a PostgreSQL server for one test, or a Skip"""
import glob
import os
import pwd
import shutil
import subprocess
import tempfile

from program import Skip


def find(program):
    found = shutil.which(program) or next(
        iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/" + program))), None)
    if not found:
        raise Skip("postgresql")
    return found


class Database:
    """The server runs as an ordinary user, with its socket in a folder."""

    def __init__(self):
        self.initdb, self.control = find("initdb"), find("pg_ctl")
        self.folder = tempfile.mkdtemp(prefix="allm-pg-", dir="/tmp")
        self.user = None
        if not os.geteuid():
            self.user = pwd.getpwnam("postgres")
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.data = os.path.join(self.folder, "data")
        self.run(self.initdb, "-D", self.data, "-U", "postgres", "-A",
                 "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()
        self.uri = f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, *command):
        def drop():
            if self.user:
                os.setgid(self.user.pw_gid)
                os.setuid(self.user.pw_uid)
        done = subprocess.run(command, cwd=self.folder, preexec_fn=drop,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=120,
                              check=False)
        assert done.returncode == 0, command

    def start(self):
        self.run(self.control, "-D", self.data, "-s", "-w", "-l",
                 os.path.join(self.folder, "log"), "-o",
                 f"-k '{self.folder}' -h ''", "start")

    def stop(self):
        self.run(self.control, "-D", self.data, "-s", "-w", "-m",
                 "immediate", "stop")

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder)
