'use strict'
const { promises } = require('node:fs')
const Module = require('node:module')
const { dirname, extname } = require('node:path')
const { pathToFileURL } = require('node:url')
const vm = require('node:vm')
const { apply, caller, includes, pin } = require('./freeze.cjs')

const { _cache: cache, createRequire } = Module
const { compileFunction } = vm
const { readFile } = promises
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname']
const IMPORTS = vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER
const IS_MODULE = /import statement|import\.meta|'export'|^await is only valid/

/**
 * Compiles a test file before code under test can replace how files are read and compiled. Returns the function that
 * runs it; null if the file has an error, which the runner shows when it loads the file.
 */
function compileEarly(filename) {
  const module = new Module(filename, null)
  module.filename = filename
  module.paths = Module._nodeModulePaths(dirname(filename))
  const compiled = compile(module)
  if (compiled === 'module') return () => importFile(filename)
  if (compiled === null) return null
  return () => {
    cache[filename] = module
    apply(compiled, module.exports, [module.exports, createRequire(filename), module, filename, dirname(filename)])
    module.loaded = true
    return module.exports
  }
}

// Compilers that the command names, such as ts-node, are registered as extensions already.
function compile(module) {
  const { filename } = module
  let compiled = null
  module._compile = (text, _, format) => {
    if (format === 'module') compiled = format
    else if (IMPORTS !== undefined || !/\bimport\s*\(/.test(text))
      compiled = compileFunction(text, PARAMETERS, { filename, importModuleDynamically: IMPORTS })
  }
  try {
    const load = Module._extensions[extname(filename)] ?? Module._extensions['.js']
    load(module, filename)
  } catch (error) {
    if (error?.code === 'ERR_REQUIRE_ESM' || IS_MODULE.test(error?.message ?? '')) return 'module'
    return null
  }
  delete module._compile
  return compiled
}

// Node.js reads modules through this function, which code under test can replace.
async function importFile(filename) {
  const before = promises.readFile
  promises.readFile = readFile
  const loaded = await import(pathToFileURL(filename).href)
  if (promises.readFile === readFile) promises.readFile = before
  return loaded.default ?? { ...loaded, default: undefined }
}

/** Code of the project adds no hooks to the loader; installed packages may. */
function keepHooksFromProject() {
  for (const name of ['register', 'registerHooks']) {
    const real = Module[name]
    if (typeof real === 'function')
      pin(Module, name, (...given) => {
        if (includes(caller(isOfNode), '/node_modules/')) return real(...given)
        throw new Error(`phaselock: the project called module.${name}, which an observed test run does not allow`)
      })
  }
}

function isOfNode(file) {
  return includes(file, 'node:')
}

module.exports = { compileEarly, keepHooksFromProject }
