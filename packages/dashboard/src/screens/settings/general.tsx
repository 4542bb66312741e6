import type { Organization } from '@belfry/contract/organization'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { paths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Card } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { TextField } from '../../ui/field.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { AbsoluteTime } from '../../ui/time.tsx'
import { DeleteByName } from './delete-by-name.tsx'
import styles from './settings.module.css'

export function General(): ReactNode {
  const { organization, workspaces } = useOrganization()
  const mayChange = useRefusal('organization.change') === null
  return (
    <>
      <PageHeader title="General" />
      <div className={styles.narrow}>
        <Card>
          {mayChange ? (
            // A saved change resets the form.
            <NameForm key={organization.updated_at} organization={organization} />
          ) : (
            <DefinitionList
              rows={[
                ['Name', organization.name],
                ['Slug', <code key="slug">{organization.slug}</code>],
                ['Created', <AbsoluteTime key="at" at={organization.created_at} />],
              ]}
            />
          )}
        </Card>
        <DeleteOrganization organization={organization} hasWorkspaces={workspaces.length > 0} />
      </div>
    </>
  )
}

function NameForm({ organization }: { organization: Organization }): ReactNode {
  const hasMoved = ({ slug }: { slug: string }) => slug !== organization.slug
  const form = useForm({
    read: field => ({ name: field('name').trim(), slug: field('slug').trim() }),
    check: ({ name, slug }) => ({
      name: name === '' && 'Enter a name.',
      slug:
        !/^[a-z0-9](-?[a-z0-9])+$/.test(slug) &&
        'Use 2 to 63 lowercase letters and digits, with single hyphens between them.',
    }),
    submit: body => call('updateOrganization', { org: organization.id, body }),
    // Every URL has changed, so the page reloads.
    leaves: hasMoved,
    onDone: saved => hasMoved(saved) && location.replace(paths.settings(saved.slug)),
    done: saved => (hasMoved(saved) ? undefined : 'Changes saved'),
  })
  return (
    <Form form={form} action="Save">
      <TextField label="Name" name="name" defaultValue={organization.name} />
      <TextField
        label="Slug"
        hint="Part of every dashboard URL. Links with the old slug stop working."
        name="slug"
        isMono
        defaultValue={organization.slug}
        autoCapitalize="none"
      />
    </Form>
  )
}

type DeleteOrganizationProps = { organization: Organization; hasWorkspaces: boolean }

function DeleteOrganization({ organization, hasWorkspaces }: DeleteOrganizationProps): ReactNode {
  const client = useQueryClient()
  const refusal = useRefusal('organization.delete')
  return (
    <section className={styles.section}>
      <h2>Delete organization</h2>
      <Card>
        <div className={styles.danger}>
          <p>Deletes its members, invitations and audit log. Delete its workspaces first.</p>
          <DeleteByName
            text="Delete"
            kind="danger"
            refusal={refusal ?? (hasWorkspaces ? 'Delete its workspaces first.' : null)}
            what="organization"
            name={organization.name}
            description="This cannot be undone."
            run={() => call('deleteOrganization', { org: organization.id })}
            leaves
            onDone={() => {
              client.clear()
              // Everything on the page belonged to it.
              location.assign('/')
            }}
          />
        </div>
      </Card>
    </section>
  )
}
