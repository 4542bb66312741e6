import { z } from 'zod'
import { textField } from './fields.ts'
import { line } from './text-rules.ts'

export const createWorkspaceBody = z.strictObject({ name: textField(line(200)) })

export type CreateWorkspaceBody = z.infer<typeof createWorkspaceBody>

export type Workspace = {
  id: string
  organization_id: string
  name: string
  created_at: string
  updated_at: string
}
