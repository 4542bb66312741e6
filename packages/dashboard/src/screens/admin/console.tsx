import { Link, NavLink } from 'react-router'
import { Bell } from '../../layout/bell.tsx'
import styles from '../../layout/shell.module.css'
import { Frame } from '../../layout/shell.tsx'
import { paths } from '../../paths.ts'

export function Console() {
  return (
    <Frame
      title="Operator console"
      head={
        <Link to="/" className={styles.console}>
          <Bell size={26} />
          Operator console
        </Link>
      }
      pages={
        <>
          <NavLink to={paths.admin.tenants()} end>
            Organizations
          </NavLink>
          <NavLink to={paths.admin.hosts()}>Hosts</NavLink>
          <NavLink to={paths.admin.mail()}>Blocked addresses</NavLink>
          <NavLink to={paths.admin.log()}>Operator log</NavLink>
          <a href="/admin/queues">Job queues</a>
        </>
      }
    />
  )
}
