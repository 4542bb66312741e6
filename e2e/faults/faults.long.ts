import { testRows } from './test-rows.ts'

// One of each other kind, among those that take seconds. `npm run test:faults` runs all of them.
testRows(['F03', 'F57', 'F73', 'S32'])
