import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Whether Node was started with this module, also through a link: `isProgram(import.meta.url)`. */
export function isProgram(url) {
  const [, started] = process.argv
  return started !== undefined && realpathSync(started) === fileURLToPath(url)
}
