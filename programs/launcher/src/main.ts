import { once } from 'node:events'
import { readConfig } from './config.ts'
import { PlainError } from './errors.ts'
import { launch } from './launch.ts'
import { openStack } from './open-stack.ts'
import { listenForStop } from './stop-signal.ts'
import { say } from './terminal.ts'

const opened = openStack()
const stop = listenForStop(process.env, () => opened.kill())
try {
  await launch(readConfig(process.env), opened, stop)
  if (opened.size > 0 && !stop.aborted) await once(stop, 'abort')
} catch (error) {
  // Errors during a stop are expected.
  if (!stop.aborted) {
    process.exitCode = 1
    say(error instanceof PlainError ? error.message : String(error instanceof Error ? error.stack : error))
  }
} finally {
  if (stop.aborted) say('Stopping ... (press Ctrl-C again to kill everything)')
  await opened.close()
}
