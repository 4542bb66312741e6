import { once } from 'node:events'
import { readConfig } from './config.ts'
import { PlainError } from './errors.ts'
import { launch } from './launch.ts'
import { killAll, type Opened, stopAll } from './opened.ts'
import { listenForStop } from './stop-signal.ts'
import { say } from './terminal.ts'

const opened: Opened[] = []
const stop = listenForStop(process.env, () => killAll(opened))
try {
  await launch(readConfig(process.env), opened, stop)
  if (opened.length > 0 && !stop.aborted) await once(stop, 'abort')
} catch (error) {
  // Errors during a stop are expected.
  if (!stop.aborted) {
    process.exitCode = 1
    say(error instanceof PlainError ? error.message : String(error instanceof Error ? error.stack : error))
  }
} finally {
  if (stop.aborted) say('Stopping ... (press Ctrl-C again to kill everything)')
  await stopAll(opened)
}
