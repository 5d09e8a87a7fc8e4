import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { defineConfig, type Plugin } from 'vite'
import { listPackageFolders } from '../scripts/third-party.mjs'

const ROOT = join(import.meta.dirname, '..')

/** What the package must name: the written files, and the packages whose code is in them. */
const recordOutput: Plugin = {
  name: 'record-output',
  writeBundle(_, bundle) {
    const packages = listPackageFolders(Object.values(bundle)).map((path) => relative(ROOT, path))
    writeFileSync(join(ROOT, 'dist/dashboard.json'), JSON.stringify({ files: Object.keys(bundle), packages }))
  },
}

// The server sends these files under a policy that allows nothing inline.
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  publicDir: false,
  logLevel: 'warn',
  plugins: [recordOutput],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      onLog(level, log, handle) {
        // Packages say where code of a server would end; there is none here. A slow machine is no fault of the build.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE' && log.code !== 'PLUGIN_TIMINGS') handle(level, log)
      },
    },
  },
})
