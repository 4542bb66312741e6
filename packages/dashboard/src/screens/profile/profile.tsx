import type { AccountEntry } from '@belfry/contract/audit-entry'
import type { Session } from '@belfry/contract/auth'
import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Download, LogOut } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  accountExportUrl,
  accountLogQuery,
  deleteMe,
  endOtherSessions,
  endSession,
  meQuery,
  sessionsQuery,
  signInMethodsQuery,
  updateMe,
} from '../../api/account.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { chooseTheme, chosenTheme, type Theme } from '../../layout/theme.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, IconButton, Link } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, optionsOf, Select, TextInput } from '../../ui/field.tsx'
import { LoadMore } from '../../ui/pagination.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './profile.module.css'
import { SecondFactorList } from './second-factors.tsx'

const minPasswordLength = 12

/** The profile of the signed-in user, which belongs to no organization. */
export function Profile(): ReactNode {
  const { data: me } = useSuspenseQuery(meQuery)
  const { data: methods } = useQuery(signInMethodsQuery)
  return (
    <PlainLayout title="Your profile" description={me.user.email} foot={<Link to="/">Back to dashboard</Link>}>
      <Stack>
        <NameForm name={me.user.name} />
        {methods?.password && <PasswordForm />}
        <SecondFactorList />
        <ThemeChoice />
        <Sessions />
        <SecurityLog />
        <AccountData />
      </Stack>
    </PlainLayout>
  )
}

function NameForm({ name }: { name: string }): ReactNode {
  const form = useForm({
    read: field => ({ name: field('name').trim() }),
    check: body => ({ ...(body.name === '' ? { name: 'Enter your name.' } : {}) }),
    submit: updateMe,
    done: () => 'Name saved',
    affects: [meQuery.queryKey],
  })
  return (
    <Form form={form} action="Save name">
      <Field label="Name" error={form.errors.name}>
        <TextInput name="name" defaultValue={name} autoComplete="name" />
      </Field>
    </Form>
  )
}

function PasswordForm(): ReactNode {
  // A new key clears the fields.
  const [times, setTimes] = useState(0)
  const form = useForm({
    isSignIn: true,
    read: field => ({ current_password: field('current_password'), password: field('password') }),
    check: body => ({
      ...(body.current_password === '' ? { current_password: 'Enter your current password.' } : {}),
      ...(body.password.length < minPasswordLength
        ? { password: `Use at least ${minPasswordLength} characters.` }
        : {}),
    }),
    submit: (body: { current_password: string; password: string }) => updateMe(body),
    onDone: () => setTimes(times + 1),
    done: () => 'Password changed. All other sessions are signed out.',
  })
  return (
    <section className={styles.part}>
      <h2>Password</h2>
      <Form key={times} form={form} action="Change password">
        <Field label="Current password" error={form.errors.current_password}>
          <TextInput name="current_password" type="password" autoComplete="current-password" />
        </Field>
        <Field label="New password" hint={`At least ${minPasswordLength} characters.`} error={form.errors.password}>
          <TextInput name="password" type="password" autoComplete="new-password" />
        </Field>
      </Form>
    </section>
  )
}

function ThemeChoice(): ReactNode {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <section className={styles.part}>
      <h2>Appearance</h2>
      <Field label="Theme" hint="Applies to this browser only.">
        <Select
          value={theme}
          onChange={event => {
            const chosen = event.target.value as Theme // one of the options
            chooseTheme(chosen)
            setTheme(chosen)
          }}
          options={optionsOf({ system: 'System', light: 'Light', dark: 'Dark' })}
        />
      </Field>
    </section>
  )
}

/** The export and the deletion of the account. */
function AccountData(): ReactNode {
  const [isDeleting, setIsDeleting] = useState(false)
  return (
    <section className={styles.part}>
      <h2>Your data</h2>
      <p className={styles.address}>
        The export is a JSON file with your profile, memberships, sessions and security log.
      </p>
      <div className={styles.buttons}>
        <Button
          icon={<Download size={15} aria-hidden="true" />}
          onClick={() => {
            window.location.href = accountExportUrl
          }}
        >
          Export data
        </Button>
        <Button kind="danger" onClick={() => setIsDeleting(true)}>
          Delete account
        </Button>
      </div>
      <Dialog
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title="Delete your account?"
        description="You leave all organizations, and all your sessions end. API keys and tasks that you created stay. This cannot be undone."
      >
        <DeleteForm onCancel={() => setIsDeleting(false)} />
      </Dialog>
    </section>
  )
}

function DeleteForm({ onCancel }: { onCancel(): void }): ReactNode {
  const { data: methods } = useQuery(signInMethodsQuery)
  const form = useForm({
    isSignIn: true,
    read: field => ({ ...(field('current_password') === '' ? {} : { current_password: field('current_password') }) }),
    check: body => ({
      ...(methods?.oidc || body.current_password ? {} : { current_password: 'Enter your password.' }),
    }),
    submit: deleteMe,
    // The page reloads, so nothing of the account stays in memory.
    onDone: () => location.replace('/'),
  })
  return (
    <Form form={form} action="Delete account" more={<Button onClick={onCancel}>Cancel</Button>}>
      {methods?.password === false ? (
        <p>This needs a sign-in within the last ten minutes.</p>
      ) : (
        <Field
          label="Password"
          hint={methods?.oidc ? `Not needed within ten minutes after a sign-in with ${methods.oidc.name}.` : undefined}
          error={form.errors.current_password}
        >
          <TextInput name="current_password" type="password" autoComplete="current-password" />
        </Field>
      )}
    </Form>
  )
}

/** The sessions of the user, each of which the user can end. */
function Sessions(): ReactNode {
  const list = useInfiniteQuery(sessionsQuery())
  const [ending, setEnding] = useState<Session | 'others' | null>(null)
  const hasOthers = list.data?.items.some(({ is_current }) => !is_current)
  return (
    <section className={styles.part}>
      <h2>Sessions</h2>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      <Table
        label="Sessions"
        rows={list.data?.items}
        rowKey={({ id }) => id}
        columns={[
          {
            id: 'device',
            header: 'Device',
            cell: ({ device, address, is_current }) => (
              <span className={styles.device}>
                {device}
                {address && <span className={styles.address}>{address}</span>}
                {is_current && <Badge tone="good">This session</Badge>}
              </span>
            ),
          },
          { id: 'used', header: 'Last used', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
        ]}
        actions={session =>
          session.is_current ? null : (
            <IconButton
              label={`End the session of ${session.device}`}
              icon={<LogOut size={16} />}
              onClick={() => setEnding(session)}
            />
          )
        }
      />
      <LoadMore {...list} />
      {hasOthers && (
        <div>
          <Button onClick={() => setEnding('others')}>End all other sessions</Button>
        </div>
      )}
      <ConfirmChange
        of={ending}
        onClose={() => setEnding(null)}
        title={of => (of === 'others' ? 'End all other sessions?' : `End the session of ${of.device}?`)}
        description="It must sign in again. Change your password too if you do not recognize it."
        action={ending === 'others' ? 'End sessions' : 'End session'}
        run={of => (of === 'others' ? endOtherSessions() : endSession(of.id))}
        affects={[['sessions']]}
        done={of => (of === 'others' ? 'All other sessions ended' : 'Session ended')}
      />
    </section>
  )
}

const actionTexts: Record<AccountEntry['action'], string> = {
  signed_in: 'Signed in',
  sign_in_failed: 'Failed sign-in',
  signed_out: 'Signed out',
  session_ended: 'Session ended',
  password_reset_requested: 'Password reset requested',
  password_reset: 'Password reset',
  password_changed: 'Password changed',
  factor_added: 'Second factor added',
  factor_removed: 'Second factor removed',
  factors_reset: 'Second factors removed by the operator',
  recovery_code_used: 'Recovery code used',
  recovery_codes_created: 'Recovery codes created',
  identity_linked: 'Linked to single sign-on',
}

/** The sign-ins of the user and the changes of the password. */
function SecurityLog(): ReactNode {
  const list = useInfiniteQuery(accountLogQuery())
  return (
    <section className={styles.part}>
      <h2>Security log</h2>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      <Table
        label="Security log"
        rows={list.data?.items}
        rowKey={({ id }) => id}
        columns={[
          { id: 'action', header: 'Action', cell: ({ action }) => actionTexts[action] },
          { id: 'device', header: 'Device', cell: entry => <Device {...entry} /> },
          { id: 'at', header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        ]}
      />
      <LoadMore {...list} />
    </section>
  )
}

function Device({ device, address }: AccountEntry): ReactNode {
  return (
    <span className={styles.device}>
      {device}
      <span className={styles.address}>{address}</span>
    </span>
  )
}
