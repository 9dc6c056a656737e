/**
 * Ports that web addresses may use: below 1024 only those of the web, above not those of databases and control planes.
 */

const WEB: ReadonlySet<number> = new Set([80, 443]);

/** Fetch's bad ports (WHATWG) above 1023, and ports of services that answer without authentication. */
const SERVICES: ReadonlySet<number> = new Set([
  1080, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3128, 3306, 3389,
  3659, 4045, 4190, 4222, 4369, 5060, 5061, 5432, 5433, 5601, 5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000,
  6379, 6380, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 7233, 7234, 7474, 7687, 8086,
  8125, 8233, 8300, 8301, 8500, 8529, 9042, 9092, 9100, 9160, 9200, 9300, 9418, 10050, 10051, 10080, 10250,
  10255, 11211, 15672, 26257, 26379, 27017, 27018, 27019, 28015, 28017, 50000, 50070, 54329, 61616,
]);

/** `allowed` are further ports that an owner permits. */
export function isWebPort(port: number, allowed: readonly number[] = []): boolean {
  if (allowed.includes(port) || WEB.has(port)) return true;
  return port >= 1024 && !SERVICES.has(port);
}
