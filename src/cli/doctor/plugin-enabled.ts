import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../core/json.js'

const PLUGIN = /^phaselock@/

/** Whether the settings of Claude Code switch the plugin on in this repository. The nearest file that names it decides. */
export function isPluginEnabled(workspace: string, environment: NodeJS.ProcessEnv = process.env): boolean {
  const own = environment.CLAUDE_CONFIG_DIR ?? join(environment.HOME ?? homedir(), '.claude')
  const files = [
    join(workspace, '.claude/settings.local.json'),
    join(workspace, '.claude/settings.json'),
    join(own, 'settings.json'),
  ]
  return files.map(readSwitch).find((isOn) => isOn !== null) ?? false
}

/** What one file says about the plugin; null: nothing. */
function readSwitch(file: string): boolean | null {
  try {
    const settings: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const plugins = isObject(settings) && isObject(settings.enabledPlugins) ? settings.enabledPlugins : {}
    const named = Object.entries(plugins).filter(([name]) => PLUGIN.test(name))
    return named.length === 0 ? null : named.some(([, isOn]) => isOn === true)
  } catch {
    // Missing, or not JSON: Claude Code skips such a file too.
    return null
  }
}
