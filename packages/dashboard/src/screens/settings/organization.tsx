import type { Organization } from '@belfry/contract/organization'
import type { Workspace } from '@belfry/contract/workspace'
import { Boxes, Trash2, Users } from 'lucide-react'
import { call } from '../../api/call.ts'
import { Form } from '../../forms/form.tsx'
import type { Change } from '../../forms/use-change.ts'
import { DialogButton, type Look } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { useOrganization, useRefusal } from '../../session/scope.ts'
import { Link } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { DefinitionList } from '../../ui/definition-list.tsx'
import { TextField } from '../../ui/field.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { AbsoluteTime, RelativeTime } from '../../ui/time.tsx'
import styles from './settings.module.css'

export function General() {
  const { organization, workspaces } = useOrganization()
  const mayChange = useRefusal('organization.change') === null
  const mayNotDelete = useRefusal('organization.delete')
  return (
    <>
      <PageHeader title="General" />
      <div className={styles.narrow}>
        <Card>
          {mayChange ? (
            // A saved change resets the form.
            <OrganizationForm key={organization.updated_at} organization={organization} />
          ) : (
            <DefinitionList
              rows={{
                Name: organization.name,
                Slug: <code>{organization.slug}</code>,
                Created: <AbsoluteTime at={organization.created_at} />,
              }}
            />
          )}
        </Card>
        <section className={styles.section}>
          <h2>Delete organization</h2>
          <Card>
            <div className={styles.danger}>
              <p>Deletes its members, invitations and audit log. Delete its workspaces first.</p>
              <DeleteByName
                text="Delete"
                kind="danger"
                refusal={mayNotDelete ?? (workspaces.length > 0 ? 'Delete its workspaces first.' : null)}
                what="organization"
                name={organization.name}
                description="This cannot be undone."
                run={() => call('deleteOrganization', { org: organization.id })}
                leaves
                // Opens another document, because everything in memory belonged to the organization.
                onDone={() => location.assign('/')}
              />
            </div>
          </Card>
        </section>
      </div>
    </>
  )
}

function OrganizationForm({ organization }: { organization: Organization }) {
  const hasMoved = ({ slug }: { slug: string }) => slug !== organization.slug
  return (
    <Form
      read={field => ({ name: field('name').trim(), slug: field('slug').trim() })}
      check={({ name, slug }) => ({
        name: name === '' && 'Enter a name.',
        slug:
          !/^[a-z0-9](-?[a-z0-9])+$/.test(slug) &&
          'Use 2 to 63 lowercase letters and digits, with single hyphens between them.',
      })}
      submit={body => call('updateOrganization', { org: organization.id, body })}
      // Every URL has changed, so the page reloads.
      leaves={hasMoved}
      onDone={saved => hasMoved(saved) && location.replace(paths.settings(saved.slug))}
      done={saved => (hasMoved(saved) ? undefined : 'Changes saved')}
      action="Save"
    >
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

export function Workspaces() {
  const { organization, workspaces } = useOrganization()
  const mayNotCreate = useRefusal('workspace.create')
  const mayChange = useRefusal('workspace.change') === null
  const mayDelete = useRefusal('workspace.delete') === null
  return (
    <ResourceList
      title="Workspaces"
      description="Each workspace has its own tasks, cron jobs, keys and log. A common setup is one workspace per environment."
      // Loaded with every page.
      list={{ data: workspaces, error: null, refetch: () => {} }}
      rowLink={({ id }) => paths.workspace(organization.slug, id).overview()}
      create={{ label: 'New workspace', right: 'workspace.create' }}
      form={workspace => <WorkspaceForm workspace={workspace} />}
      empty={{
        icon: Boxes,
        title: 'No workspaces',
        children: `You do not belong to any workspace of ${organization.name} yet. ${
          mayNotCreate ? 'Ask an owner or admin to add you to one.' : 'Create one, or ask an admin to add you.'
        }`,
        ...(mayNotCreate ? { actions: null } : {}),
      }}
      columns={[
        { header: 'Name', cell: ({ name }) => name },
        { header: 'ID', isExtra: true, cell: ({ id }) => <code className={styles.mono}>{id}</code> },
        { header: 'Created', isExtra: true, cell: one => <RelativeTime at={one.created_at} /> },
      ]}
      actions={({ id, name }) => (
        <>
          <Link
            to={paths.workspace(organization.slug, id).settings('members')}
            aria-label={`Members of ${name}`}
            className={styles.iconLink}
          >
            <Users size={16} />
          </Link>
          {mayDelete && (
            <DeleteByName
              label={`Delete ${name}`}
              icon={<Trash2 size={16} />}
              what="workspace"
              name={name}
              description="All its deliveries stop immediately: scheduled tasks, retries and cron jobs. Its API keys stop working and its log is deleted."
              run={() => call('deleteWorkspace', { ws: id })}
              done={`${name} deleted`}
            />
          )}
        </>
      )}
      nameOf={({ name }) => name}
      edit={mayChange ? {} : undefined}
    />
  )
}

function WorkspaceForm({ workspace }: { workspace: Workspace | null }) {
  const { organization } = useOrganization()
  return (
    <Form
      read={field => ({ name: field('name').trim(), switch_off_after_days: Number(field('switch_off_after_days')) })}
      check={({ name }) => ({ name: name === '' && 'Enter a name.' })}
      submit={body =>
        workspace
          ? call('updateWorkspace', { ws: workspace.id, body })
          : call('createWorkspace', { org: organization.id, body: { name: body.name } })
      }
      done={({ name }) => (workspace ? `${name} changed` : `${name} created`)}
      action={workspace ? 'Save' : 'Create workspace'}
    >
      <TextField label="Name" name="name" defaultValue={workspace?.name} placeholder="Staging" />
      {workspace && (
        <TextField
          label="Switch off after days of failures"
          hint="Cron jobs and subscriptions whose every call fails. Owners get a mail after half of the time. 0: never."
          name="switch_off_after_days"
          type="number"
          min={0}
          max={90}
          defaultValue={workspace.switch_off_after_days}
        />
      )}
    </Form>
  )
}

type DeleteByNameProps = Look &
  Pick<Change<void, string>, 'leaves' | 'done' | 'onDone'> & {
    what: 'workspace' | 'organization'
    name: string
    description: string
    run(): Promise<void>
  }

/** A button that deletes a workspace or an organization after the user has typed its name. */
function DeleteByName({ what, name, run, leaves, done, onDone, ...button }: DeleteByNameProps) {
  return (
    <DialogButton {...button} title={`Delete ${name}?`}>
      <Form
        read={field => field('typed').trim()}
        check={typed => ({ typed: typed !== name && 'The name does not match.' })}
        submit={run}
        leaves={leaves}
        done={done}
        onDone={onDone}
        action={`Delete ${what}`}
        isDangerous
      >
        <TextField label={`Type the name of the ${what} to confirm`} hint={<strong>{name}</strong>} name="typed" />
      </Form>
    </DialogButton>
  )
}
