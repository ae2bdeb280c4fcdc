"""killed - stores of sessions, and processes that are killed at work"""
import os
import signal
import subprocess
import tempfile

from program import ALLM, BUILD, CLEAN, HOME, equal

AGENT = os.path.join(BUILD, "tests", "kill_agent")


def fresh():
    """A place for a store, as the variable that selects it."""
    return {"ALLM_STORE": "sqlite:" + os.path.join(
        tempfile.mkdtemp(dir=HOME), "s.db")}


def start(*args, env):
    """Begin a call, wait for its first word; the caller ends it."""
    child = subprocess.Popen([ALLM, *args], env={**CLEAN, **env}, cwd=HOME,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL)
    equal(os.read(child.stdout.fileno(), 100), b"begun")
    return child


def end(child, number):
    child.send_signal(number)
    child.communicate(timeout=30)
    return child.returncode


def killed_agent(at="t1+"):
    """A store whose session "chat" was killed there (see tests/kill/agent.c):
    after its first write."""
    env = fresh()
    notes = os.path.join(os.path.dirname(env["ALLM_STORE"][7:]), "notes")
    done = subprocess.run([AGENT, env["ALLM_STORE"], "chat", notes, "truth",
                           at],
                          capture_output=True, check=False, timeout=60)
    equal(done.returncode, -signal.SIGKILL)
    return env
