"""tls.py - https in front of the replay server, by nghttpx

The certificate is signed by an authority of its own, which is added to a copy
of the system's certificates.  So a client loads as many authorities as it does
for a real provider.  SSL_CERT_FILE names the copy of the bundle, and
SSL_CERT_DIR the copy of the hashed directory.  Without these variables, allm
searches the system's directory and the others load its bundle, or both; so allm
is passed the directory only, and the others both.
"""
import glob
import os
import shutil
import socket
import subprocess
import time

import install

BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/cert.pem",
           "/etc/ssl/cert.pem")


def openssl(*words):
    return subprocess.run(["openssl"] + list(words), capture_output=True,
                          text=True, check=True).stdout.strip()


def make_certificates(folder):
    at = lambda name: os.path.join(folder, name)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30",
            "-subj", "/CN=peers authority", "-keyout", at("ca.key"), "-out",
            at("ca.pem"))
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
            "-keyout", at("server.key"), "-out", at("server.csr"))
    with open(at("names"), "w") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", at("server.csr"), "-CA", at("ca.pem"),
            "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "30",
            "-extfile", at("names"), "-out", at("server.pem"))


def copy_system(folder):
    """The system's bundle and directory, with our authority in addition."""
    bundle = next(b for b in BUNDLES if os.path.exists(b))
    ours = open(os.path.join(folder, "ca.pem")).read()
    with open(os.path.join(folder, "bundle.pem"), "w") as f:
        f.write(open(bundle).read() + ours)
    hashed = os.path.join(folder, "certs")
    os.makedirs(hashed)
    for path in glob.glob(os.path.join(os.path.dirname(bundle), "*.[0-9]")):
        shutil.copyfile(path, os.path.join(hashed, os.path.basename(path)))
    name = openssl("x509", "-hash", "-noout", "-in",
                   os.path.join(folder, "ca.pem"))
    with open(os.path.join(hashed, name + ".0"), "w") as f:
        f.write(ours)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Front:
    def __init__(self, program, backend):
        self.folder = os.path.join(install.OUT, "tls")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        make_certificates(self.folder)
        copy_system(self.folder)
        self.port = free_port()
        at = lambda name: os.path.join(self.folder, name)
        self.process = subprocess.Popen(
            [program, "--conf=/dev/null", "--frontend=127.0.0.1,%d" %
             self.port, "--backend=127.0.0.1,%d" % backend, "--workers=1",
             "--errorlog-file=" + at("errors"), at("server.key"),
             at("server.pem")], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.wait()

    def wait(self):
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)
        raise OSError("nghttpx does not listen")

    def url(self, name):
        return "https://127.0.0.1:%d/%s" % (self.port, name)

    def environment(self, client):
        env = {"SSL_CERT_DIR": os.path.join(self.folder, "certs"),
               "NODE_OPTIONS": "--use-openssl-ca"}
        bundle = os.path.join(self.folder, "bundle.pem")
        env["SSL_CERT_FILE"] = "" if client.name == "allm" else bundle
        return env

    def stop(self):
        self.process.terminate()
        self.process.wait()


def start(backend):
    """A front, or None if a program for it is missing."""
    program = shutil.which("nghttpx") or shutil.which(
        "nghttpx", path="/usr/sbin:/usr/local/sbin")
    if not program or not shutil.which("openssl"):
        install.say("no https row: nghttpx or openssl is missing")
        return None
    try:
        return Front(program, backend)
    except (OSError, StopIteration, subprocess.CalledProcessError) as error:
        install.say("no https row: %s" % error)
        return None
