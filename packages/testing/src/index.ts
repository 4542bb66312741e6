export type { Duration, TestClock } from './clock.ts'
export type { Answer, ReceivedCall } from './receiver.ts'
export { startBelfry, type TestBelfry, type TestBelfryOptions } from './start-belfry.ts'
