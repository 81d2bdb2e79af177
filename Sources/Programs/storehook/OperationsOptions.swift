import ArgumentParser
import HTTPKit
import Logging
import Monitoring

/// Where a long-running program serves its operations routes; by default it serves none.
struct OperationsOptions: ParsableArguments {
    @Option(help: "The port to serve /metrics, /healthz and /readyz on; 0 for any free one.") var metricsPort: Int?
    @Option(help: "The address to serve them on.") var metricsHost = "127.0.0.1"

    func validate() throws {
        guard (0...65535).contains(metricsPort ?? 0) else {
            throw ValidationError("--metrics-port goes from 0 to 65535")
        }
    }

    /// The program's monitoring, if it serves the operations routes. Otherwise nothing is counted.
    func monitoring(_ program: String, _ settings: Settings) throws -> ProgramMonitoring? {
        try metricsPort.map { _ in try ProgramMonitoring(program, settings) }
    }

    /// Adds the operations server. It is added before the workers' services, hence stopped after them, so that their
    /// last work is counted and can still be read.
    /// - Parameters:
    ///   - warning: what the operator should look at although the program is ready; nil for nothing.
    ///   - notReady: why the program is not ready, apart from its database; nil if it is.
    func serve(
        _ monitoring: ProgramMonitoring?, in services: inout ProgramServices, logger: Logger,
        warning: @escaping @Sendable () -> String? = { nil },
        notReady: @escaping @Sendable () -> String?
    ) {
        guard let monitoring, let metricsPort else { return }
        services.add("the monitoring's database pool", monitoring.pool)
        let (host, monitor) = (metricsHost, monitoring.monitor)
        services.add(
            "the operations port",
            OperationsServer(
                host: host, port: metricsPort, logger: logger,
                readiness: {
                    if let why = await monitor.whyDatabaseIsNotReady() { return why }
                    return notReady()
                },
                warning: warning, exposition: { await monitor.exposition() },
                onListening: { port in
                    logger.info("Serving metrics", metadata: ["host": "\(host)", "port": "\(port)"])
                }),
            portOption: "--metrics-port")
    }
}
