// `npm test`: runs all tests, or those of the arguments, as for `vitest run`.
import { bootstrap } from './bootstrap.mjs'
import { runTests } from './run-tests.mjs'

bootstrap()
process.exitCode = await runTests(process.argv.slice(2))
