"""What a library for tests replaces is not raised where the code proves it, and is where something may go around it."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess


def worst(code: str) -> Level:
    """Return the worst level of what is found, but for the use of the network and what is handed to a library."""
    findings = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code)).findings
    return max((one.level for one in findings), default=Level.LOW)


REPLACED = {
    "pyfakefs proved": """import os, shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        os.makedirs("/home/me/cache")
        shutil.rmtree("/home/me/cache")
        self.assertFalse(os.path.exists("/home/me/cache"))
""",
    "Patcher context": """import shutil
from pyfakefs.fake_filesystem_unittest import Patcher
with Patcher() as p:
    p.fs.create_dir("/home/me/cache")
    shutil.rmtree("/home/me/cache")
""",
    "Stubber": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3", region_name="us-east-1")
with Stubber(client) as stub:
    stub.add_response("delete_bucket", {}, {"Bucket": "old"})
    client.delete_bucket(Bucket="old")
""",
    "Django TestCase": """from django.test import TestCase
from shop.models import Order

class OrderTests(TestCase):
    def setUp(self):
        self.order = Order.objects.create(total=5)
    def test_delete(self):
        Order.objects.all().delete()
        self.assertEqual(Order.objects.count(), 0)
""",
    "monkeypatch of shutil.rmtree": """import shutil

def test_clean(monkeypatch):
    removed = []
    monkeypatch.setattr(shutil, "rmtree", lambda p: removed.append(p))
    shutil.rmtree("/home/me/cache")
    assert removed == ["/home/me/cache"]
""",
}
REAL = {
    "pyfakefs class instantiated and test called without setUp": """import os, shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        shutil.rmtree("/home/me/cache")

T("test_clean").test_clean()
""",
    "pyfakefs paused": """import os, shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        self.fs.pause()
        shutil.rmtree("/home/me/cache")
""",
    "no setUpPyfakefs": """import os, shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        pass
    def test_clean(self):
        shutil.rmtree("/home/me/cache")
""",
    "own module's TestCase pretends": """import os, shutil
from fakefs_helpers import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        shutil.rmtree("/home/me/cache")
""",
    "subprocess is not faked": """import subprocess
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        subprocess.run(["rm", "-rf", "/home/me/cache"])
""",
    "add_real_directory writable": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
        self.fs.add_real_directory("/home/me", read_only=False)
    def test_clean(self):
        shutil.rmtree("/home/me/cache")
""",
    "code in setUp before setUpPyfakefs": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        shutil.rmtree("/home/me/cache")
        self.setUpPyfakefs()
    def test_clean(self):
        self.assertTrue(True)
""",
    "setUpClass runs before": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree("/home/me/cache")
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        self.assertTrue(True)
""",
    "Patcher ended": """import shutil
from pyfakefs.fake_filesystem_unittest import Patcher
with Patcher() as p:
    p.fs.create_dir("/home/me/cache")
shutil.rmtree("/home/me/cache")
""",
    "Stubber of another client": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3")
real = boto3.client("s3")
with Stubber(client) as stub:
    stub.add_response("delete_bucket", {}, {"Bucket": "old"})
    real.delete_bucket(Bucket="old")
""",
    "after Stubber": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3")
with Stubber(client) as stub:
    stub.add_response("delete_bucket", {}, {"Bucket": "old"})
client.delete_bucket(Bucket="old")
""",
    "Stubber deactivated inside": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3")
with Stubber(client) as stub:
    stub.deactivate()
    client.delete_bucket(Bucket="old")
""",
    "alias used after": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3")
with Stubber(client) as stub:
    later = client
later.delete_bucket(Bucket="old")
""",
    "client rebound inside": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3")
with Stubber(client) as stub:
    client = boto3.client("s3")
    client.delete_bucket(Bucket="old")
""",
    "closure run after": """import boto3
from botocore.stub import Stubber
client = boto3.client("s3")
with Stubber(client) as stub:
    f = lambda: client.delete_bucket(Bucket="old")
f()
""",
    "Django class with a test method called directly": """import django
django.setup()
from django.test import TestCase
from shop.models import Order

class OrderTests(TestCase):
    def test_delete(self):
        Order.objects.all().delete()

OrderTests().test_delete()
""",
    "Django TransactionTestCase commits": """from django.test import TransactionTestCase
from shop.models import Order

class OrderTests(TransactionTestCase):
    def test_delete(self):
        Order.objects.all().delete()
""",
    "own TestCase from unittest, Django models: real database": """import unittest, django
django.setup()
from shop.models import Order

class OrderTests(unittest.TestCase):
    def test_delete(self):
        Order.objects.all().delete()
unittest.main()
""",
    "Django TestCase, but module-level deletion": """from django.test import TestCase
from shop.models import Order
Order.objects.all().delete()
class OrderTests(TestCase):
    def test_delete(self):
        self.assertEqual(Order.objects.count(), 0)
""",
    "files deleted inside Django TestCase are real": """import shutil
from django.test import TestCase

class OrderTests(TestCase):
    def test_delete(self):
        shutil.rmtree("/home/me/media")
""",
    "monkeypatch undone": """import shutil

def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    monkeypatch.undo()
    shutil.rmtree("/home/me/cache")
""",
    "monkeypatch puts another deleter": """import shutil, os

def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", os.removedirs)
    shutil.rmtree("/home/me/cache")
""",
    "monkeypatch in one test, real in another": """import shutil

def test_a(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    shutil.rmtree("/home/me/a")

def test_b():
    shutil.rmtree("/home/me/b")
""",
    "name monkeypatch is own object": """import shutil
class M:
    def setattr(self, *a): pass
monkeypatch = M()
monkeypatch.setattr(shutil, "rmtree", lambda p: None)
shutil.rmtree("/home/me/cache")
""",
    "before the setattr": """import shutil

def test_clean(monkeypatch):
    shutil.rmtree("/home/me/cache")
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
""",
    "setattr in a branch": """import shutil, os

def test_clean(monkeypatch):
    if os.environ.get("CI"):
        monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    shutil.rmtree("/home/me/cache")
""",
    "test called directly with own object": """import shutil
class M:
    def setattr(self, *a): pass
def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    shutil.rmtree("/home/me/cache")
test_clean(M())
""",
    "setattr of the wrong name": """import shutil, os

def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "copytree", lambda p: None)
    shutil.rmtree("/home/me/cache")
""",
    "fake that deletes really": """import shutil, os
real = shutil.rmtree
def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: real(p))
    shutil.rmtree("/home/me/cache")
""",
    "pyfakefs TestCase patched setUpPyfakefs": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase
TestCase.setUpPyfakefs = lambda self: None
class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        shutil.rmtree("/home/me/cache")
""",
    "own setUpPyfakefs in class": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase
class T(TestCase):
    def setUpPyfakefs(self):
        pass
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        shutil.rmtree("/home/me/cache")
""",
    "os.system in a test of pyfakefs": """import os
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        os.system("rm -rf /home/me/cache")
""",
    "a thread outlives the test of pyfakefs": """import shutil, threading
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        threading.Timer(60, lambda: shutil.rmtree("/home/me/cache")).start()
""",
    "the class is got by its name": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        shutil.rmtree("/home/me/cache")

globals()["T"]("test_clean").test_clean()
""",
    "a subclass calls the test": """import shutil
from pyfakefs.fake_filesystem_unittest import TestCase

class T(TestCase):
    def setUp(self):
        self.setUpPyfakefs()
    def test_clean(self):
        shutil.rmtree("/home/me/cache")

class U(T):
    def setUp(self):
        pass
""",
    "the stubber is handed to somebody": """import boto3
from botocore.stub import Stubber
from helpers import ready
client = boto3.client("s3")
with Stubber(client) as stub:
    ready(stub)
    client.delete_bucket(Bucket="old")
""",
    "another stubber library": """import boto3
from stubs import Stubber
client = boto3.client("s3")
with Stubber(client):
    client.delete_bucket(Bucket="old")
""",
    "monkeypatch is handed to somebody": """import shutil
from helpers import ready

def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    ready(monkeypatch)
    shutil.rmtree("/home/me/cache")
""",
    "a second setattr puts it back": """import shutil
real = shutil.rmtree

def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    monkeypatch.setattr(shutil, "rmtree", real)
    shutil.rmtree("/home/me/cache")
""",
    "a patch ended by monkeypatch": """import shutil
from unittest.mock import patch
real = shutil.rmtree

def test_clean(monkeypatch):
    with patch("shutil.rmtree"):
        monkeypatch.setattr(shutil, "rmtree", real)
        shutil.rmtree("/home/me/cache")
""",
    "a function of its own keeps the real one": """import shutil
from shutil import rmtree

def test_clean(monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda p: None)
    rmtree("/home/me/cache")
""",
    "rows by a raw connection": """from django.db import connection
from django.test import TestCase
from shop.models import Order

class OrderTests(TestCase):
    def test_delete(self):
        Order.objects.all().delete()
        connection.commit()
""",
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_a_test_has_replaced_is_not_raised(name: str) -> None:
    assert worst(REPLACED[name]) <= Level.MEDIUM


@pytest.mark.parametrize("name", REAL)
def test_what_may_be_real_after_all_is_raised(name: str) -> None:
    assert worst(REAL[name]) >= Level.HIGH
