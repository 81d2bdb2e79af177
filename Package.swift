// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every target: warnings are errors, imports are stated where they are used and leak to nobody.
let rules: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The commit, where whoever packs the program names it.
let commit: [CSetting] = Context.environment["STOREHOOK_COMMIT"].map { [.define("STOREHOOK_COMMIT", to: $0)] } ?? []

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let asn1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let cryptoExtras: Target.Dependency = .product(name: "_CryptoExtras", package: "swift-crypto")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let jwtKit: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTPTypesHTTP1: Target.Dependency = .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

let package = Package(
    name: "storehook",
    platforms: [.macOS(.v26)],
    products: [
        .executable(name: "storehook", targets: ["storehook"]),
        .executable(name: "storehook-bench", targets: ["storehook-bench"]),
    ],
    // What is built is what was tested: a newer version comes by deploy/raise-versions, and by a change that is tested.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // What is below everything. C embeds what Swift cannot: the files of the migrations, and the commit.
        .target(name: "CEmbedded", path: "Sources/Base/CEmbedded", cSettings: commit),
        .target(name: "Base", dependencies: ["CEmbedded"], path: "Sources/Base/Base", swiftSettings: rules),

        // The C library, and PostgreSQL over it.
        .systemLibrary(
            name: "CLibPQ",
            path: "Sources/Storage/CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev", "libssl-dev"])]
        ),
        .target(
            name: "Postgres", dependencies: ["CLibPQ", crypto, logging, serviceLifecycle],
            path: "Sources/Storage/Postgres",
            swiftSettings: rules),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["Postgres", "TestSupport", logging, serviceLifecycle],
            swiftSettings: rules
        ),

        // Apple's payloads as types, the check that they are Apple's, and what they mean. Pure: no I/O.
        .target(name: "AppStorePayloads", path: "Sources/AppStore/AppStorePayloads", swiftSettings: rules),
        .testTarget(name: "AppStorePayloadsTests", dependencies: ["AppStorePayloads"], swiftSettings: rules),
        .target(
            name: "AppStoreVerification",
            dependencies: ["AppStorePayloads", crypto, asn1, x509],
            path: "Sources/AppStore/AppStoreVerification",
            swiftSettings: rules
        ),
        .testTarget(
            name: "AppStoreVerificationTests",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Simulator", crypto, asn1, x509],
            swiftSettings: rules
        ),
        // Receipts of old apps: what they say, and whether Apple signed them. No I/O.
        .target(
            name: "AppStoreReceipts",
            dependencies: ["AppStorePayloads", "AppStoreVerification", crypto, asn1],
            path: "Sources/AppStore/AppStoreReceipts",
            swiftSettings: rules
        ),
        .testTarget(
            name: "AppStoreReceiptsTests",
            dependencies: ["AppStorePayloads", "AppStoreReceipts", "AppStoreVerification", "Simulator", "TestSupport"],
            swiftSettings: rules
        ),
        // Asking Apple. What is asked, when, and what an answer means are values; the transport is a protocol.
        .target(
            name: "AppStoreServerAPI",
            dependencies: ["AppStorePayloads", "AppStoreVerification", jwtKit],
            path: "Sources/AppStore/AppStoreServerAPI",
            swiftSettings: rules
        ),
        .testTarget(
            name: "AppStoreServerAPITests",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "Simulator", crypto, jwtKit,
            ],
            swiftSettings: rules
        ),
        .target(
            name: "Subscriptions", dependencies: ["AppStorePayloads"], path: "Sources/Domain/Subscriptions",
            swiftSettings: rules),
        // Customers as the app knows them, and what they buy with.
        .target(
            name: "Accounts", dependencies: ["AppStorePayloads", "Catalog", "Subscriptions", crypto],
            path: "Sources/Domain/Accounts", swiftSettings: rules),
        // How a file of the operator's is read: what is not known is a fault, with its line.
        .target(name: "StrictYAML", dependencies: [yams], path: "Sources/Domain/StrictYAML", swiftSettings: rules),
        // What is sold and what it gives, out of YAML; and the days and months that use is counted by.
        .target(
            name: "Catalog", dependencies: ["AppStorePayloads", "ConsumptionPolicy", "StrictYAML", yams],
            path: "Sources/Domain/Catalog", swiftSettings: rules),
        .testTarget(
            name: "CatalogTests",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "Catalog", "ConsumptionPolicy", "StrictYAML", "TestSupport",
                yams,
            ],
            swiftSettings: rules),
        // IP addresses, and blocks of them as operators write them.
        .target(name: "NetworkAddresses", path: "Sources/Domain/NetworkAddresses", swiftSettings: rules),
        // Where events are posted to: which URLs and addresses may be called, and how what is posted is signed.
        .target(
            name: "Endpoints", dependencies: ["AppStorePayloads", "NetworkAddresses", crypto],
            path: "Sources/Domain/Endpoints",
            swiftSettings: rules),
        .testTarget(
            name: "EndpointsTests", dependencies: ["AppStorePayloads", "Endpoints", "NetworkAddresses", "TestSupport"],
            exclude: ["webhooks_library.py"], swiftSettings: rules),
        // What has changed, as it is told: which change makes which event, and how an event is written.
        .target(
            name: "Events", dependencies: ["Accounts", "AppStorePayloads", "Subscriptions"],
            path: "Sources/Domain/Events", swiftSettings: rules),
        .testTarget(
            name: "EventsTests",
            dependencies: [
                "Accounts", "AppStorePayloads", "Events", "StoreModel", "Subscriptions", "TestSupport", crypto,
            ],
            swiftSettings: rules),
        // What the operator has decided about refund requests, out of YAML.
        .target(
            name: "ConsumptionPolicy", dependencies: ["AppStorePayloads", "AppStoreServerAPI", "StrictYAML", yams],
            path: "Sources/Domain/ConsumptionPolicy", swiftSettings: rules),
        .testTarget(
            name: "DomainTests",
            dependencies: [
                "Accounts", "AppStorePayloads", "AppStoreServerAPI", "ConsumptionPolicy", "NetworkAddresses",
                "StrictYAML",
            ],
            swiftSettings: rules
        ),
        .testTarget(
            name: "AccountsTests",
            dependencies: ["Accounts", "AppStorePayloads", "Catalog", "Subscriptions", "TestSupport"],
            swiftSettings: rules
        ),
        .testTarget(
            name: "SubscriptionsTests",
            dependencies: ["AppStorePayloads", "Simulator", "StoreModel", "Subscriptions", "TestSupport", crypto],
            swiftSettings: rules
        ),

        // The database: its migrations, the queue, and the facts with what is derived from them.
        .target(
            name: "Schema",
            dependencies: ["CEmbedded", "Postgres"],
            path: "sql",
            exclude: ["README.md", "migrations", "roles.sql", "schema.sql"],
            sources: ["Schema.swift"],
            swiftSettings: rules
        ),
        // Claiming, leases and the fence: one implementation for every queue.
        .target(name: "Queue", dependencies: ["Postgres"], path: "Sources/Storage/Queue", swiftSettings: rules),
        .testTarget(
            name: "QueueTests", dependencies: ["Postgres", "Queue", "TestSupport", logging], swiftSettings: rules),
        // Base64url is AppStorePayloads' alone, and how the outbox's bytes are packed the Outbox's.
        .target(
            name: "Outbox",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Postgres", "Queue", "Subscriptions"],
            path: "Sources/Storage/Outbox", swiftSettings: rules),
        .target(
            name: "Ledger",
            dependencies: ["AppStorePayloads", "Postgres", "Subscriptions"],
            path: "Sources/Storage/Ledger",
            swiftSettings: rules
        ),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "AppStorePayloads", "Ledger", "Postgres", "Schema", "SimulatedState", "Simulator", "Subscriptions",
                "TestSupport", crypto, logging,
            ],
            swiftSettings: rules
        ),

        // What is known of Apple's notification history, and what is still to be asked.
        .target(
            name: "History",
            dependencies: ["AppStorePayloads", "Outbox", "Postgres", "Queue", "Subscriptions", crypto],
            path: "Sources/Storage/History", swiftSettings: rules),
        // Test notifications of Apple's, and how each came through.
        .target(
            name: "Canary", dependencies: ["History", "Postgres", "Queue"], path: "Sources/Storage/Canary",
            swiftSettings: rules),

        // Extensions of renewal dates that Apple was asked for, and how far each has come.
        .target(
            name: "RenewalExtensions", dependencies: ["History", "Postgres", "Queue"],
            path: "Sources/Storage/RenewalExtensions", swiftSettings: rules),
        // Apple's requests for consumption data, what became of each, and the customers' consents.
        .target(
            name: "Consumption",
            dependencies: [
                "Accounts", "AppStorePayloads", "AppStoreServerAPI", "ConsumptionPolicy", "History", "Ledger",
                "Postgres",
                "Queue", "Subscriptions",
            ],
            path: "Sources/Storage/Consumption", swiftSettings: rules),

        // The keys of operators' own servers, by their digests.
        .target(
            name: "ServerKeys", dependencies: ["AppStorePayloads", "Postgres", crypto],
            path: "Sources/Storage/ServerKeys", swiftSettings: rules),
        // What accounts have used of the catalog's features, counted and checked at once.
        .target(
            name: "Usage", dependencies: ["AppStorePayloads", "Catalog", "Ledger", "Postgres", crypto],
            path: "Sources/Storage/Usage", swiftSettings: rules),
        .testTarget(
            name: "UsageTests",
            dependencies: ["AppStorePayloads", "Catalog", "Postgres", "Schema", "TestSupport", "Usage", logging],
            swiftSettings: rules),
        // Whose purchases are, what staff did, and each account's status.
        .target(
            name: "AccountStore",
            dependencies: [
                "Accounts", "AppStorePayloads", "Catalog", "Events", "Ledger", "Postgres", "Subscriptions",
                crypto,
            ],
            path: "Sources/Storage/AccountStore", swiftSettings: rules),
        // Events as they are kept: written in the transaction that causes them, numbered, and put into one order.
        .target(
            name: "EventStore",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Consumption", "Events", "Ledger", "Postgres",
                "Subscriptions",
            ],
            path: "Sources/Storage/EventStore", swiftSettings: rules),
        // Where events are posted to, what waits for each endpoint, and what became of it.
        .target(
            name: "EndpointStore",
            dependencies: [
                "AppStorePayloads", "Endpoints", "Events", "Ledger", "Postgres", "Queue", crypto,
            ],
            path: "Sources/Storage/EndpointStore", swiftSettings: rules),
        .testTarget(
            name: "EndpointStoreTests",
            dependencies: [
                "AppStorePayloads", "EndpointStore", "Endpoints", "Ledger", "Postgres", "Queue", "TestSupport",
                "WebhookSupport",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "EventStoreTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Catalog", "Consumption", "EventStore", "Events",
                "Ledger",
                "Outbox", "Postgres", "Schema", "Subscriptions", "TestSupport", "Worker", logging, serviceLifecycle,
            ],
            swiftSettings: rules),
        .testTarget(
            name: "AccountStoreTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Catalog", "Events", "Ledger", "Postgres", "Schema",
                "SimulatedState",
                "Simulator", "Subscriptions", "TestSupport", logging,
            ],
            swiftSettings: rules
        ),

        // What every HTTP port of every program has in common, whatever it serves.
        .target(
            name: "HTTPServing",
            dependencies: [
                "NetworkAddresses", httpTypes, hummingbird, hummingbirdCore, logging, metrics, nioCore, nioHTTP1,
                nioHTTPTypes,
                nioHTTPTypesHTTP1, nioSSL, nioTLS, serviceLifecycle,
            ],
            path: "Sources/Services/HTTPServing",
            swiftSettings: rules
        ),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: [
                "HTTPServing", "NetworkAddresses", "TestSupport", asyncHTTPClient, httpTypes, hummingbird, logging,
                nioCore, nioEmbedded, nioHTTP1, nioHTTPTypes, nioSSL, nioTLS, serviceLifecycle,
            ],
            swiftSettings: rules
        ),

        // What the programs tell of themselves, for Prometheus.
        .target(
            name: "Monitoring", dependencies: ["Base", "HTTPServing", "Outbox", "Postgres", "Queue", metrics],
            path: "Sources/Services/Monitoring", swiftSettings: rules),
        .testTarget(
            name: "MonitoringTests",
            dependencies: [
                "Base",
                "HTTPServing", "Monitoring", "Outbox", "Postgres", "Schema", "TestSupport", asyncHTTPClient, logging,
                metrics, nioCore, nioHTTP1, serviceLifecycle,
            ],
            swiftSettings: rules
        ),

        // The two programs' hearts. They never import each other.
        .target(
            name: "Receiver",
            dependencies: [
                "AppStorePayloads", "HTTPServing", "NetworkAddresses", "Outbox", deque, httpTypes, hummingbird, logging,
                metrics, serviceLifecycle,
            ],
            path: "Sources/Services/Receiver",
            swiftSettings: rules
        ),
        .target(
            name: "Worker",
            dependencies: [
                "AccountStore", "AppStorePayloads", "AppStoreVerification", "EventStore", "Events",
                "EvidenceVerification", "Ledger", "Outbox",
                "Postgres",
                "Queue", "Subscriptions", logging, metrics, serviceLifecycle,
            ],
            path: "Sources/Services/Worker",
            swiftSettings: rules
        ),

        // What apps and backends ask.
        .target(
            name: "AccountAPI",
            dependencies: [
                "Base",
                "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification",
                "AppleSync", "Canary", "Catalog", "Consumption", "EventStore", "Events", "EvidenceIntake",
                "HTTPServing",
                "History", "Ledger", "NetworkAddresses", "Outbox", "Postgres", "ServerKeys", "Subscriptions", "Usage",
                asyncHTTPClient,
                crypto,
                httpTypes, hummingbird, jwtKit, logging, metrics, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Sources/Services/AccountAPI",
            swiftSettings: rules
        ),
        // What is answered, beside what documents say it is: no I/O.
        .testTarget(
            name: "AccountAnswersTests",
            dependencies: ["AccountAPI", "Accounts", "AppStorePayloads", "AppStoreVerification", "Catalog", httpTypes],
            swiftSettings: rules
        ),
        .testTarget(
            name: "AccountAPITests",
            dependencies: [
                "AccountAPI", "AccountStore", "Accounts", "AppStoreAccess", "AppStorePayloads", "AppStoreServerAPI",
                "AppStoreVerification", "AppleSync", "Canary", "Catalog", "Consumption", "EventStore", "Events",
                "EvidenceIntake",
                "HTTPServing", "History", "Ledger", "Monitoring", "Outbox", "Postgres", "Schema", "ServerKeys",
                "Simulator",
                "StandIn", "StandInSupport", "TestSupport", "Usage", "Worker", asyncHTTPClient, crypto, cryptoExtras,
                httpTypes, jwtKit, logging, metrics, nioCore, nioHTTP1, serviceLifecycle,
            ],
            swiftSettings: rules
        ),

        // How Apple's servers are reached: over HTTP, with keys out of the operator's files.
        .target(
            name: "AppStoreAccess",
            dependencies: [
                "Base",
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", asyncHTTPClient, metrics, nioCore,
                nioHTTP1, nioPosix, nioSSL, yams,
            ],
            path: "Sources/Services/AppStoreAccess",
            swiftSettings: rules
        ),
        .testTarget(
            name: "AppStoreAccessTests",
            dependencies: [
                "AppStoreAccess", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "Monitoring",
                "Simulator", "TestSupport", crypto, metrics, nioSSL,
            ],
            swiftSettings: rules
        ),
        // What is asked of Apple beside the workers: lost notifications, and purchases that records contradict.
        .target(
            name: "AppleSync",
            dependencies: [
                "AppStorePayloads", "AppStoreReceipts", "AppStoreServerAPI", "AppStoreVerification", "Canary",
                "Consumption", "ConsumptionPolicy", "History", "Ledger", "Outbox", "Postgres", "Queue",
                "RenewalExtensions", "Subscriptions", logging, metrics, serviceLifecycle,
            ],
            path: "Sources/Services/AppleSync",
            swiftSettings: rules
        ),
        .testTarget(
            name: "AppleSyncTests",
            dependencies: [
                "Accounts", "AppStorePayloads", "AppStoreReceipts", "AppStoreServerAPI", "AppStoreVerification",
                "AppleSync", "Canary", "Consumption", "ConsumptionPolicy", "History", "Ledger", "Outbox", "Postgres",
                "Queue", "RenewalExtensions", "Schema", "Simulator", "StandIn", "StandInSupport", "Subscriptions",
                "TestSupport", "Worker", crypto, logging, metrics, serviceLifecycle,
            ],
            swiftSettings: rules
        ),
        // What stored bytes are once they are verified; for workers, and for what rehearses and repairs their work.
        .target(
            name: "EvidenceVerification",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "Ledger", "Outbox", "Postgres",
                "Queue", "Subscriptions",
                logging,
            ],
            path: "Sources/Services/EvidenceVerification",
            swiftSettings: rules
        ),
        // What apps hand in: the workers' verification and application, at once and in the transaction that stores it.
        .target(
            name: "EvidenceIntake",
            dependencies: [
                "AppStorePayloads", "AppStoreVerification", "EvidenceVerification", "Ledger", "Outbox", "Postgres",
                "Queue", "Subscriptions", logging, metrics,
            ],
            path: "Sources/Services/EvidenceIntake",
            swiftSettings: rules
        ),
        .testTarget(
            name: "EvidenceIntakeTests",
            dependencies: [
                "AppStorePayloads", "AppStoreVerification", "EvidenceIntake", "EvidenceVerification", "Ledger",
                "Monitoring", "Operations", "Outbox", "Postgres", "Queue", "Schema", "Simulator", "StandInSupport",
                "Subscriptions", "TestSupport", "Worker", logging, metrics, serviceLifecycle,
            ],
            swiftSettings: rules
        ),
        // What delivers events to endpoints.
        .target(
            name: "Webhooks",
            dependencies: [
                "Base",
                "AppStorePayloads", "EndpointStore", "Endpoints", "Events", "Ledger", "NetworkAddresses", "Postgres",
                "Queue", asyncHTTPClient, logging, metrics, nioCore, nioHTTP1, nioPosix, nioSSL, serviceLifecycle,
            ],
            path: "Sources/Services/Webhooks",
            swiftSettings: rules
        ),
        .testTarget(
            name: "WebhooksTests",
            dependencies: [
                "Base",
                "AppStorePayloads", "EndpointStore", "Endpoints", "Ledger", "Monitoring", "NetworkAddresses",
                "Postgres",
                "Queue", "TestSupport", "WebhookSupport", "Webhooks", logging, metrics, nioSSL, serviceLifecycle,
            ],
            swiftSettings: rules
        ),
        // What people have done for them: the commands ask it, and a console can.
        .target(
            name: "Operations",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppStoreReceipts", "AppStoreServerAPI",
                "AppStoreVerification", "AppleSync", "Canary", "Catalog", "Consumption", "ConsumptionPolicy",
                "EndpointStore", "Endpoints", "EventStore", "Events", "EvidenceVerification", "HTTPServing", "History",
                "Ledger", "Outbox", "Postgres", "Queue",
                "RenewalExtensions", "ServerKeys", "Subscriptions", "Usage", asyncHTTPClient, logging, nioCore,
                nioHTTP1, nioPosix, serviceLifecycle,
            ],
            path: "Sources/Services/Operations",
            swiftSettings: rules
        ),
        .testTarget(
            name: "OperationsTests",
            dependencies: ["AppStoreVerification", "Catalog", "Operations", "Outbox", "Postgres"],
            swiftSettings: rules
        ),

        // Stand-ins for Apple: a PKI of the same shape, and life stories that it signs.
        .target(
            name: "Simulator", dependencies: ["AppStorePayloads", asn1, crypto, cryptoExtras, x509],
            path: "Sources/Simulation/Simulator", swiftSettings: rules),
        // A stand-in for Apple's servers, with customers out of the simulator.
        .target(
            name: "StandIn",
            dependencies: [
                "AppStorePayloads", "Simulator", asyncHTTPClient, crypto, httpTypes, hummingbird, jwtKit, logging,
                nioCore,
                nioHTTP1, serviceLifecycle,
            ],
            path: "Sources/Simulation/StandIn",
            swiftSettings: rules
        ),
        .testTarget(
            name: "StandInTests",
            dependencies: [
                "AppStoreAccess", "AppStorePayloads", "AppStoreReceipts", "AppStoreServerAPI", "AppStoreVerification",
                "Simulator",
                "StandIn", "StandInSupport", "TestSupport", asyncHTTPClient, jwtKit, logging, nioCore, nioHTTP1,
            ],
            exclude: ["apple_library.py"],
            swiftSettings: rules
        ),
        // A database full of purchases, and the questions that are asked of one: for measurements and tests.
        .target(
            name: "SimulatedState", dependencies: ["AppStorePayloads", "Ledger", "Postgres", crypto],
            path: "Sources/Simulation/SimulatedState",
            swiftSettings: rules),
        .testTarget(
            name: "SimulatorTests",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Simulator"],
            swiftSettings: rules
        ),

        // The commands: the only place that reads the environment and puts the rest together.
        .executableTarget(
            name: "storehook",
            dependencies: [
                "Base",
                "AccountAPI", "AccountStore", "Accounts", "AppStoreAccess", "AppStorePayloads", "AppStoreReceipts",
                "AppStoreServerAPI", "AppStoreVerification", "AppleSync", "Canary", "Catalog", "Consumption",
                "ConsumptionPolicy", "EndpointStore", "Endpoints", "EventStore", "EvidenceIntake",
                "EvidenceVerification", "HTTPServing", "History", "Ledger", "Monitoring", "NetworkAddresses",
                "Operations", "Outbox", "Postgres", "Queue", "Receiver", "RenewalExtensions", "Schema", "ServerKeys",
                "Simulator", "StandIn", "StrictYAML", "Subscriptions", "Usage", "Webhooks", "Worker", argumentParser,
                asyncHTTPClient, configuration, crypto, jwtKit, logging, metrics, nioCore, nioHTTP1, nioPosix, nioSSL,
                serviceLifecycle, systemPackage, unixSignals,
            ],
            path: "Sources/Programs/storehook",
            swiftSettings: rules
        ),

        // The measurements.
        .executableTarget(
            name: "storehook-bench",
            dependencies: [
                "AccountAPI", "AccountStore", "AppStorePayloads", "AppStoreVerification", "EndpointStore", "Endpoints",
                "EventStore", "Events", "Ledger", "Outbox", "Postgres",
                "Queue", "Schema", "SimulatedState", "Simulator", "Subscriptions", "Worker", argumentParser,
                asyncHTTPClient, crypto,
                httpTypes, hummingbird, jwtKit, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
                serviceLifecycle, unixSignals,
            ],
            path: "Sources/Programs/storehook-bench",
            exclude: ["README.md"],
            swiftSettings: rules
        ),

        // The queue and the programs, against a real PostgreSQL.
        .testTarget(
            name: "SchemaTests",
            dependencies: ["Postgres", "Schema", "SimulatedState", "TestSupport", logging],
            swiftSettings: rules
        ),
        .testTarget(
            name: "OutboxTests",
            dependencies: [
                "AppStorePayloads", "AppStoreVerification", "Outbox", "Postgres", "Queue", "Schema", "Simulator",
                "Subscriptions", "TestSupport", crypto, logging,
            ],
            swiftSettings: rules
        ),
        .testTarget(
            name: "ReceiverTests",
            dependencies: [
                "HTTPServing", "NetworkAddresses", "Outbox", "Postgres", "Queue", "Receiver", "Schema", "Simulator",
                "TestSupport", asyncHTTPClient, logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle,
            ],
            swiftSettings: rules
        ),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "AccountStore", "AppStorePayloads", "AppStoreVerification", "EndpointStore", "EventStore", "Events",
                "Ledger", "Operations", "Outbox",
                "Postgres",
                "Queue", "Schema", "Simulator", "StandInSupport", "Subscriptions", "TestSupport", "Usage", "Worker",
                logging, serviceLifecycle,
            ],
            swiftSettings: rules
        ),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "Base",
                "StandIn",
                "storehook", "storehook-bench", "AppStoreAccess", "AppStorePayloads", "AppStoreServerAPI",
                "AppStoreVerification", "EventStore", "EvidenceVerification", "HTTPServing", "History",
                "NetworkAddresses", "Outbox", "Postgres", "Queue", "AccountAPI", "Schema", "ServerKeys",
                "Simulator", "Subscriptions", "TestSupport", "WebhookSupport", "Worker", argumentParser,
                asyncHTTPClient, crypto, logging,
                nioCore, nioHTTP1, nioSSL, serviceLifecycle,
            ],
            exclude: ["Golden/outputs", "schemathesis.toml"],
            swiftSettings: rules
        ),

        // A second model of Apple's store, written from its documents and kept apart from the simulator: a judge in tests.
        .target(name: "StoreModel", path: "Tests/StoreModel", swiftSettings: rules),

        // For tests alone: a stand-in that runs while a test does, and workers who trust an Apple of the test's own.
        .target(
            name: "StandInSupport",
            dependencies: [
                "AppStoreAccess", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "Ledger", "Outbox",
                "Postgres", "Queue", "Schema", "Simulator", "StandIn", "TestSupport", "Worker", asyncHTTPClient,
                logging, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/StandInSupport", swiftSettings: rules),

        // For tests alone: endpoints and events in a database.
        .target(
            name: "WebhookSupport",
            dependencies: [
                "AppStorePayloads", "EndpointStore", "Endpoints", "EventStore", "Ledger", "Postgres", "Schema",
                "TestSupport", logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Tests/WebhookSupport", swiftSettings: rules),

        // What strangers' bytes reach before a signature has been checked: for the fuzzers, and for a test with their seeds.
        .target(
            name: "FuzzedReaders",
            dependencies: [
                "AppStorePayloads", "AppStoreReceipts", "AppStoreVerification", "HTTPServing", "Outbox", httpTypes,
                nioCore,
                nioEmbedded, nioHTTPTypes,
            ],
            path: "Tests/Fuzzing/FuzzedReaders", swiftSettings: rules),
        .testTarget(name: "FuzzingTests", dependencies: ["FuzzedReaders"], swiftSettings: rules),

        // For tests alone: a database for each, a clock that is set by hand, chance that can be repeated.
        .target(
            name: "TestSupport", dependencies: ["Postgres", asn1, crypto, logging, x509], path: "Tests/TestSupport",
            swiftSettings: rules),
    ],
    // For #embed.
    cLanguageStandard: .gnu2x
)

// libFuzzer brings a main of its own and a runtime that only `-sanitize=fuzzer` links: deploy/fuzz asks for these.
if Context.environment["STOREHOOK_FUZZ"] == "1" {
    package.targets += [
        .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzzing/CLibFuzzer"),
        .executableTarget(
            name: "storehook-fuzz", dependencies: ["CLibFuzzer", "FuzzedReaders"],
            path: "Tests/Fuzzing/storehook-fuzz", swiftSettings: rules),
    ]
}
