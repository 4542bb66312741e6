import { expect, it } from 'vitest'
import { ApiProblem } from '../api/api-problem.ts'
import { refuseTakenName } from './refuse-taken-name.ts'

it('the name of a new object is refused at its field, unless the API says that no object has it', async () => {
  const fields = { name: 'There is a queue with this name. Edit it in the list.' }
  await expect(refuseTakenName('queue', async () => ({ name: 'mail' }))).rejects.toMatchObject({ fields })
  const missing = Promise.reject(new ApiProblem(404, {}))
  await expect(refuseTakenName('queue', () => missing)).resolves.toBeUndefined()
  const lost = new ApiProblem(0, {})
  await expect(refuseTakenName('queue', () => Promise.reject(lost))).rejects.toBe(lost)
})
