-- Creates the owner of Belfry's database in a new PostgreSQL. It migrates and creates the roles of the services, and is no
-- superuser. The superuser loses its password, so it can log in only inside the container.
\getenv password OWNER_PASSWORD
CREATE ROLE belfry LOGIN CREATEROLE PASSWORD :'password';
ALTER DATABASE :"DBNAME" OWNER TO belfry;
GRANT pg_read_all_stats TO belfry WITH ADMIN OPTION;
ALTER ROLE CURRENT_USER PASSWORD NULL;
