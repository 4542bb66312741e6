import { testRows } from './test-rows.ts'

// The most telling of those that take seconds: calls in flight while PostgreSQL crashes. Others are in faults.long.ts.
testRows(['F42'])
