import { useLocation, useSearchParams } from 'react-router'
import { returnPath } from '../../paths.ts'

/** Returns the page to open after sign-in: the path in `?return=`, with the fragment of the current page. */
export function useReturnPath(): string {
  const [params] = useSearchParams()
  const { hash } = useLocation()
  return returnPath(params.get('return')) + hash
}
