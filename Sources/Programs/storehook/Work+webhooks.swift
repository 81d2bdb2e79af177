import HTTPKit
import Logging
import Postgres
import Webhooks

extension Work {
    /// The deliveries, over connections of their own: endpoints that are slow are to hold up nothing else. Without a key there are none.
    func addWebhooks(
        _ settings: Settings, _ monitoring: ProgramMonitoring?, to services: inout ProgramServices, name: String,
        logger: Logger
    ) throws {
        let (policy, roots) = (try settings.endpointPolicy(), try settings.endpointRoots())
        guard let key = try settings.secretKey() else { return }
        let pool = PostgresPool(
            configuration: try settings.writableDatabase(), size: 4, logger: logger, onError: monitoring?.countError)
        services.add("the deliveries' database pool", pool)
        var listener: PostgresListener?
        if try settings.listens() {
            let heard = try PostgresListener(
                configuration: try settings.writableDatabase(), channel: Webhooks.channel, logger: logger)
            services.add("the deliveries' listener", heard)
            listener = heard
        }
        services.add(
            "the deliveries",
            Webhooks(
                pool: pool, key: key, caller: EndpointCaller(policy, resolver: SystemResolver(), roots: roots),
                listener: listener,
                configuration: WebhookConfiguration(
                    name: name, lease: max(try settings.lease(), WebhookConfiguration.leastLease)),
                logger: logger, metrics: WebhookMetrics()))
    }
}
