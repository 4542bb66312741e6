import { expect, it } from 'vitest'
import { AppError } from './app-error.ts'

it('an AppError carries its code, message and options', () => {
  const cause = new Error('why')
  const errors = [{ path: 'name', code: 'required', message: 'name is required.' }]
  const error = new AppError('conflict', 'Not now.', { errors, extra: { current_state: 'dead' }, cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    code: 'conflict',
    message: 'Not now.',
    errors,
    extra: { current_state: 'dead' },
    cause,
  })
  expect(new AppError('conflict', 'Not now.')).not.toHaveProperty('cause')
})
