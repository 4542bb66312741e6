import { z } from 'zod'
import { textField } from './fields.ts'
import { instant, line } from './text-rules.ts'

/** Without `expires_at`, or with null, the key is good until it is revoked. */
export const createApiKeyBody = z.strictObject({
  name: textField(line(200)),
  expires_at: textField(instant).nullable().optional(),
})

export type CreateApiKeyBody = z.infer<typeof createApiKeyBody>

export type ApiKey = {
  id: string
  workspace_id: string
  name: string
  /** The first characters of the key, to recognise it by. */
  prefix: string
  created_by: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

/** The answer to its creation, the only one that carries the key itself. */
export type NewApiKey = ApiKey & { key: string }
