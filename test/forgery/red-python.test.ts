import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sample } from '../depth.js'
import { covers, type Files, openStage, type Stage } from './red-stage.js'

const PYTEST_OLD = `import pytest
from old import old

def test_old_works():
    assert old() == 1

def test_old_is_broken():
    assert old() == 2

@pytest.mark.skip(reason="later")
def test_old_is_skipped():
    assert old() == 3
`
const UNITTEST_OLD = `import unittest
from old import old

class TestOld(unittest.TestCase):
    def test_old_works(self):
        self.assertEqual(old(), 1)

    def test_old_is_broken(self):
        self.assertEqual(old(), 2)

    @unittest.skip("later")
    def test_old_is_skipped(self):
        self.assertEqual(old(), 3)
`
const PYTEST_ADD = 'def test_adds():\n    from add import add\n\n    assert add(2, 3) == 5\n'
const UNITTEST_ADD = `import unittest

class TestAdd(unittest.TestCase):
    def test_adds(self):
        from add import add
        self.assertEqual(add(2, 3), 5)
`
const CODE = 'def add(a, b):\n    return a + b\n'
const OLD = { 'old.py': 'def old():\n    return 1\n', 'tests/__init__.py': '', 'conftest.py': '' }

const RUNNERS = [
  {
    name: 'pytest',
    terms: { run: 'python3 -m pytest -v -p no:cacheprovider', format: 'pytest' },
    old: PYTEST_OLD,
    add: PYTEST_ADD,
    bad: {
      'a refused connection': [
        'could not connect',
        'import socket\n\ndef test_adds():\n    socket.create_connection(("127.0.0.1", 1))\n    assert socket is None\n',
      ],
      'a missing package': ['is not installed', 'import numpy\n\ndef test_adds():\n    assert numpy.add(1, 1) == 2\n'],
      'a syntax error': ['syntax error', 'def test_adds(:\n    assert True\n'],
      'a missing module without an assertion': ['has no assertion', 'import add\n\ndef test_adds():\n    pass\n'],
    },
  },
  {
    name: 'unittest',
    terms: { run: 'python3 -m unittest discover -v -s tests -t .' },
    old: UNITTEST_OLD,
    add: UNITTEST_ADD,
    bad: {
      'a refused connection': [
        'could not connect',
        'import socket\nimport unittest\n\nclass TestAdd(unittest.TestCase):\n    def test_adds(self):\n        socket.create_connection(("127.0.0.1", 1))\n        self.assertIsNone(socket)\n',
      ],
      'a missing package': [
        'is not installed',
        'import unittest\nimport numpy\n\nclass TestAdd(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(numpy.add(1, 1), 2)\n',
      ],
    },
  },
] as const

describe.each(RUNNERS)('RED with $name', ({ name, terms, old, add, bad }) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage.end())
  const project: Files = { ...OLD, 'tests/test_old.py': old }

  it('[REQ-RED-1] [REQ-RED-2] [REQ-RED-5] old failures open no RED and are not counted against honest work', async () => {
    const agent = await stage.worker(project, terms)
    expect(await agent.red([covers('tests/test_old.py')])).toMatch(/old_is_broken.* failed before the task too/)
    await agent.write({ 'tests/test_add.py': add, 'tests/test_old.py': old.replaceAll('test_old_works', 'check_old') })
    expect(await agent.red([covers('tests/test_add.py')])).not.toBe('')
    await agent.write({ 'tests/test_old.py': old })
    const named = (name: string) => [{ ...covers('tests/test_add.py'), criteria: { AC1: [name] } }]
    expect(await agent.red(named('test_add'))).toMatch(
      /no failing test matches "test_add"; those that fail are .*test_adds/,
    )
    expect(await agent.red(named(name === 'unittest' ? 'TestAdd.test_adds' : 'test_adds'))).toBe('')
    await agent.write({ 'add.py': CODE, 'old.py': 'def old():\n    return 2\n' })
    expect(await agent.green()).toMatch(/Passed before the task: .*test_old_works/)
    await agent.write({ 'old.py': OLD['old.py'] })
    expect(await agent.green()).toBe('')
    expect(agent.warnings()).toMatch(/Failed before the task too: .*old_is_broken/)
  })

  it.each(sample(Object.entries(bad), 1))('[REQ-RED-4] %s shows nothing of the project', async (_, [reason, text]) => {
    const agent = await stage.worker(project, terms)
    await agent.write({ 'tests/test_add.py': text })
    expect(await agent.red([covers('tests/test_add.py')])).toContain(reason)
    await agent.write({ 'tests/test_add.py': add })
    expect(await agent.red([covers('tests/test_add.py')])).toBe('')
  })
})
