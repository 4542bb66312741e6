import type { AccountEntry } from '@belfry/contract/audit-entry'
import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Download, LogOut } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { call, urlOf } from '../../api/call.ts'
import { pagesOf, queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { checkNewPassword, NewPasswordField } from '../../forms/new-password-field.tsx'
import { ConfirmButton, DialogButton } from '../../layout/change-buttons.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, Link } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'
import { ListTable } from '../../ui/list-table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import styles from './profile.module.css'
import { SecondFactorList } from './second-factors.tsx'

export function Profile() {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const { data: methods } = useQuery(queryOf('getSignInMethods'))
  return (
    <PlainLayout title="Your profile" description={me.user.email} foot={<Link to="/">Back to dashboard</Link>}>
      <Stack>
        <Form
          read={field => ({ name: field('name').trim() })}
          check={({ name }) => ({ name: name === '' && 'Enter your name.' })}
          submit={body => call('updateMe', { body })}
          done="Name saved"
          action="Save name"
        >
          <TextField label="Name" name="name" defaultValue={me.user.name} autoComplete="name" />
        </Form>
        {methods?.password && <PasswordForm />}
        <SecondFactorList />
        <Sessions />
        <SecurityLog />
        <AccountData />
      </Stack>
    </PlainLayout>
  )
}

function PasswordForm() {
  // A new key clears the fields.
  const [times, setTimes] = useState(0)
  return (
    <section className={styles.part}>
      <h2>Password</h2>
      <Form
        key={times}
        isSignIn
        read={field => ({ current_password: field('current_password'), password: field('password') })}
        check={body => ({
          current_password: body.current_password === '' && 'Enter your current password.',
          password: checkNewPassword(body.password),
        })}
        submit={body => call('updateMe', { body })}
        onDone={() => setTimes(times + 1)}
        done="Password changed. All other sessions are signed out."
        action="Change password"
      >
        <TextField label="Current password" name="current_password" type="password" autoComplete="current-password" />
        <NewPasswordField label="New password" />
      </Form>
    </section>
  )
}

function AccountData() {
  return (
    <section className={styles.part}>
      <h2>Your data</h2>
      <p className={styles.address}>
        The export is a JSON file with your profile, memberships, sessions and security log.
      </p>
      <div className={styles.buttons}>
        <Button
          icon={<Download size={15} />}
          onClick={() => {
            window.location.href = urlOf('exportMe')
          }}
        >
          Export data
        </Button>
        <DialogButton
          text="Delete account"
          kind="danger"
          title="Delete your account?"
          description="You leave all organizations, and all your sessions end. API keys and tasks that you created stay. This cannot be undone."
        >
          <DeleteForm />
        </DialogButton>
      </div>
    </section>
  )
}

function DeleteForm() {
  const { data: methods } = useQuery(queryOf('getSignInMethods'))
  return (
    <Form
      isSignIn
      read={field => ({ ...(field('current_password') === '' ? {} : { current_password: field('current_password') }) })}
      check={body => ({
        current_password: !methods?.oidc && !body.current_password && 'Enter your password.',
      })}
      submit={body => call('deleteMe', { body })}
      leaves
      // Reloads the page to remove the account from memory.
      onDone={() => location.replace('/')}
      action="Delete account"
      isDangerous
    >
      {methods?.password === false ? (
        <p>This needs a sign-in within the last ten minutes.</p>
      ) : (
        <TextField
          label="Password"
          hint={methods?.oidc ? `Not needed within ten minutes after a sign-in with ${methods.oidc.name}.` : undefined}
          name="current_password"
          type="password"
          autoComplete="current-password"
        />
      )}
    </Form>
  )
}

function Sessions() {
  const list = useInfiniteQuery(pagesOf('listSessions'))
  const hasOthers = list.data?.items.some(({ is_current }) => !is_current)
  return (
    <section className={styles.part}>
      <h2>Sessions</h2>
      <ListTable
        label="Sessions"
        list={list}
        columns={[
          {
            header: 'Device',
            cell: session => (
              <Device {...session}>{session.is_current && <Badge tone="good">This session</Badge>}</Device>
            ),
          },
          { header: 'Last used', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
        ]}
        actions={session =>
          session.is_current ? null : (
            <ConfirmButton
              label={`End the session of ${session.device}`}
              icon={<LogOut size={16} />}
              description={endingText}
              action="End session"
              run={() => call('endSession', { session: session.id })}
              done="Session ended"
            />
          )
        }
      />
      {hasOthers && (
        <div>
          <ConfirmButton
            text="End all other sessions"
            description={endingText}
            action="End sessions"
            run={() => call('endOtherSessions')}
            done="All other sessions ended"
          />
        </div>
      )}
    </section>
  )
}

const endingText = 'It must sign in again. Change your password too if you do not recognize it.'

// What the name of an action does not tell.
const actionTexts: Partial<Record<AccountEntry['action'], string>> = {
  sign_in_failed: 'Failed sign-in',
  factor_added: 'Second factor added',
  factor_removed: 'Second factor removed',
  factors_reset: 'Second factors removed by the operator',
  identity_linked: 'Linked to single sign-on',
}

function SecurityLog() {
  return (
    <section className={styles.part}>
      <h2>Security log</h2>
      <ListTable
        label="Security log"
        list={useInfiniteQuery(pagesOf('listAccountLog', { query: { limit: 10 } }))}
        columns={[
          { header: 'Action', cell: ({ action }) => actionTexts[action] ?? wordsOf(action) },
          { header: 'Device', cell: entry => <Device {...entry} /> },
          { header: 'Time', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
        ]}
      />
    </section>
  )
}

type DeviceProps = { device: string | null; address: string | null; children?: ReactNode }

function Device({ device, address, children }: DeviceProps) {
  return (
    <span className={styles.device}>
      {device}
      {address && <span className={styles.address}>{address}</span>}
      {children}
    </span>
  )
}
