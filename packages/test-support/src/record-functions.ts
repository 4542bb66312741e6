import { Session } from 'node:inspector/promises'

/** Records which functions of this process run. */
export type FunctionRecorder = {
  /** Returns the functions that ran during `run`, each as the URL of its file, `#`, and its name. */
  during(run: () => Promise<unknown>): Promise<string[]>
  stop(): void
}

export async function recordFunctions(): Promise<FunctionRecorder> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
  return {
    async during(run) {
      await session.post('Profiler.takePreciseCoverage')
      await run()
      const { result } = await session.post('Profiler.takePreciseCoverage')
      return result.flatMap(({ url, functions }) =>
        functions
          .filter(({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0))
          .map(({ functionName }) => `${url}#${functionName}`),
      )
    },
    stop: () => session.disconnect(),
  }
}
