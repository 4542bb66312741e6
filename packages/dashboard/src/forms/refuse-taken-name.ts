import { ApiProblem } from '../api/api-problem.ts'

/**
 * Refuses the name of a new object if one has it: the API would replace that one.
 * @param readIt - Reads the object of this name.
 * @throws ApiProblem With the message for the field of the name.
 */
export async function refuseTakenName(what: 'queue' | 'connection', readIt: () => Promise<unknown>): Promise<void> {
  try {
    await readIt()
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return
    throw error
  }
  const message = `There is a ${what} with this name. Edit it in the list.`
  throw new ApiProblem(409, { errors: [{ path: 'name', code: 'name_taken', message }] })
}
