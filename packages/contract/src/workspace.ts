import { z } from 'zod'
import { integer, textField } from './fields.ts'
import { idField, shownNumber, timestampField } from './response-fields.ts'
import { displayName } from './text-rules.ts'

export const createWorkspaceBody = z.strictObject({ name: textField(displayName) })

export const updateWorkspaceBody = z.strictObject({
  name: textField(displayName).optional(),
  keeps_responses_with_secrets: z.boolean().optional(),
  asymmetric_signatures: z.boolean().optional(),
  switch_off_after_days: integer(0, 90).optional(),
})

export const workspace = z
  .object({
    id: idField('ws'),
    organization_id: idField('org'),
    name: z.string().meta({ examples: ['Production'] }),
    keeps_responses_with_secrets: z.boolean().meta({
      description: 'Whether the log keeps the headers and bodies of responses to requests with secrets.',
      examples: [true],
    }),
    asymmetric_signatures: z.boolean().meta({
      description:
        'Whether deliveries also have a `v1a` signature (Ed25519), which receivers verify with a public key.',
      examples: [false],
    }),
    switch_off_after_days: shownNumber(
      'After how many days a cron job or subscription that only fails is switched off. Owners are warned after half of them. 0: never.',
      10,
    ),
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Workspace' })

export type Workspace = z.infer<typeof workspace>
