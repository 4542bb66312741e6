import { recordFunctions } from '@belfry/test-support/record-functions'
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
  const recorder = await recordFunctions()
  const filesOfRequest = async () =>
    new Set((await recorder.during(create)).flatMap(name => /\/services\/api\/src\/(.*)#/.exec(name)?.[1] ?? []))
  const [first, second] = [await filesOfRequest(), await filesOfRequest()]
  recorder.stop()
  const files = [...first].filter(file => second.has(file)) // without those of the background
  expect(files).toContain('tasks/create-task.ts')
  expect(files.length, files.sort().join('\n')).toBeLessThanOrEqual(maxFiles)
})
