import { Session } from 'node:inspector/promises'
import { expect, it } from 'vitest'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()
const maxFiles = 23

// A newcomer reads these files to follow POST /tasks through the API.
it('creates a task with functions of few files', async () => {
  const create = async () => {
    const { status } = await api.call('POST', '/api/v1/scheduler/tasks', aTaskBody({ payload: { a: 1 } }))
    expect(status).toBe(201)
  }
  await create() // loads what the first request loads
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
  const filesOfRequest = async () => {
    await session.post('Profiler.takePreciseCoverage')
    await create()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const ran = result.filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0)),
    )
    return ran.flatMap(({ url }) => /\/services\/api\/src\/(.*)$/.exec(url)?.[1] ?? [])
  }
  const [first, second] = [await filesOfRequest(), await filesOfRequest()]
  session.disconnect()
  const files = first.filter(file => second.includes(file)) // without those of the background
  expect(files).toContain('tasks/create-task.ts')
  expect(files.length, files.sort().join('\n')).toBeLessThanOrEqual(maxFiles)
})
