import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { accountEntry } from './audit-entry.ts'
import { session, user } from './auth.ts'
import { idField, timestampField } from './response-fields.ts'
import { secondFactors } from './second-factor.ts'

const named = { id: idField('org'), name: z.string().meta({ examples: ['Acme'] }) }

/** Everything that Belfry stores about a user outside of the data of organizations. */
export const accountExport = z
  .object({
    exported_at: timestampField(),
    user: user.extend({ email_confirmed_at: timestampField().nullable() }),
    organizations: z.array(z.object({ ...named, role: z.enum(roles), joined_at: timestampField() })),
    workspaces: z.array(
      z.object({ ...named, id: idField('ws'), role: z.enum(workspaceRoles), added_at: timestampField() }),
    ),
    sessions: z.array(session),
    identities: z
      .array(
        z.object({
          issuer: z.string().meta({ examples: ['https://id.example.com/realms/acme'] }),
          subject: z.string().meta({ examples: ['248289761001'] }),
          created_at: timestampField(),
        }),
      )
      .meta({ description: 'The identities of the OpenID Connect issuer that sign in to the account.' }),
    second_factors: secondFactors,
    api_keys: z.array(
      z.object({
        ...named,
        id: idField('key'),
        workspace_id: idField('ws'),
        created_at: timestampField(),
        revoked_at: timestampField().nullable(),
      }),
    ),
    invitations: z.array(
      z.object({
        id: idField('inv'),
        organization_id: idField('org'),
        email: z.string(),
        created_at: timestampField(),
      }),
    ),
    security_log: z.array(accountEntry).meta({ description: 'The latest 10,000 entries of the last 90 days.' }),
  })
  .meta({ id: 'AccountExport' })

export type AccountExport = z.infer<typeof accountExport>
