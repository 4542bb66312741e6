# The health check of the images: `bash probe-health.sh PORT` checks the process on the port in the variable PORT. Bash, because
# a Node that starts every 15 seconds in each container costs more than an idle Belfry.
exec 3<> "/dev/tcp/127.0.0.1/${!1}" || exit 1
printf 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r -t 4 -u 3 _ status _ && [ "$status" = 200 ]
