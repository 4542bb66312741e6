import { createContext, use } from 'react'
import { useRouteError } from 'react-router'
import { ApiProblem, messageOf } from '../api/api-problem.ts'
import { paths } from '../paths.ts'
import { ButtonLink } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { usePageTitle } from '../ui/use-page-title.ts'
import { Bell } from './bell.tsx'
import styles from './plain-layout.module.css'

/** Whether a page is within the main element of a shell. A document has one main element. */
export const InShell = createContext(false)

/** Shown when a page cannot be loaded, or fails. */
export function ErrorPage() {
  const error = useRouteError()
  const isMissing = typeof error === 'object' && error !== null && 'status' in error && error.status === 404
  const needsFactor = error instanceof ApiProblem && error.code === 'second_factor_required'
  const title = needsFactor ? 'Second factor required' : isMissing ? 'Page not found' : 'This page could not be loaded'
  usePageTitle(title)
  const Frame = use(InShell) ? 'div' : 'main'
  return (
    <Frame className={styles.wide}>
      <EmptyState
        isPage
        picture={<Bell size={32} />}
        title={title}
        actions={
          needsFactor ? (
            <ButtonLink to={paths.profile()}>Go to your profile</ButtonLink>
          ) : (
            <ButtonLink to="/">Go to dashboard</ButtonLink>
          )
        }
      >
        {isMissing && !(error instanceof ApiProblem) ? 'This page does not exist or has moved.' : messageOf(error)}
      </EmptyState>
    </Frame>
  )
}
