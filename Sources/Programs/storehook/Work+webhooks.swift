import HTTPKit
import Logging
import Postgres
import Webhooks

extension Work {
    /// The deliveries, over connections of their own: endpoints that are slow are to hold up nothing else. Without a key there are none.
    func addWebhooks(
        _ settings: WorkSettings, _ monitoring: ProgramMonitoring?, to services: inout ProgramServices, name: String,
        logger: Logger
    ) throws {
        guard let key = settings.secretKey else { return }
        let pool = PostgresPool(
            configuration: settings.database, size: 4, logger: logger, onError: monitoring?.countError)
        services.add("the deliveries' database pool", pool)
        var listener: PostgresListener?
        if settings.listens {
            let heard = try PostgresListener(
                configuration: settings.database, channel: Webhooks.channel, logger: logger)
            services.add("the deliveries' listener", heard)
            listener = heard
        }
        services.add(
            "the deliveries",
            Webhooks(
                pool: pool, key: key,
                caller: EndpointCaller(
                    settings.endpointPolicy, resolver: SystemResolver(), roots: settings.endpointRoots),
                listener: listener,
                configuration: WebhookConfiguration(
                    name: name, lease: max(settings.lease, WebhookConfiguration.leastLease)),
                logger: logger, metrics: WebhookMetrics()))
    }
}
