import type { User } from '@belfry/contract'
import { toId } from '@belfry/domain'

export type UserRow = { id: string; email: string; name: string; createdAt: Date }

export function presentUser(user: UserRow): User {
  return { id: toId('user', user.id), email: user.email, name: user.name, created_at: user.createdAt.toISOString() }
}
