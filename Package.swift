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

/// What another package offers stands behind the trait `Server`: a package that depends on this one with `traits: []` gets the
/// client alone, and resolves none of what follows.
func server(_ product: String, _ package: String) -> Target.Dependency {
    .product(name: product, package: package, condition: .when(traits: ["Server"]))
}

let argumentParser: Target.Dependency = server("ArgumentParser", "swift-argument-parser")
let asn1: Target.Dependency = server("SwiftASN1", "swift-asn1")
let asyncHTTPClient: Target.Dependency = server("AsyncHTTPClient", "async-http-client")
let configuration: Target.Dependency = server("Configuration", "swift-configuration")
let cryptoExtras: Target.Dependency = server("_CryptoExtras", "swift-crypto")
let crypto: Target.Dependency = server("Crypto", "swift-crypto")
let deque: Target.Dependency = server("DequeModule", "swift-collections")
let httpTypes: Target.Dependency = server("HTTPTypes", "swift-http-types")
let hummingbird: Target.Dependency = server("Hummingbird", "hummingbird")
let hummingbirdCore: Target.Dependency = server("HummingbirdCore", "hummingbird")
let jwtKit: Target.Dependency = server("JWTKit", "jwt-kit")
let logging: Target.Dependency = server("Logging", "swift-log")
let metrics: Target.Dependency = server("Metrics", "swift-metrics")
let mustache: Target.Dependency = server("Mustache", "swift-mustache")
let nioCore: Target.Dependency = server("NIOCore", "swift-nio")
let nioEmbedded: Target.Dependency = server("NIOEmbedded", "swift-nio")
let nioHTTP1: Target.Dependency = server("NIOHTTP1", "swift-nio")
let nioSSL: Target.Dependency = server("NIOSSL", "swift-nio-ssl")
let nioTLS: Target.Dependency = server("NIOTLS", "swift-nio")
let nioPosix: Target.Dependency = server("NIOPosix", "swift-nio")
let nioHTTPTypesHTTP1: Target.Dependency = server("NIOHTTPTypesHTTP1", "swift-nio-extras")
let nioHTTPTypes: Target.Dependency = server("NIOHTTPTypes", "swift-nio-extras")
let serviceLifecycle: Target.Dependency = server("ServiceLifecycle", "swift-service-lifecycle")
let unixSignals: Target.Dependency = server("UnixSignals", "swift-service-lifecycle")
let x509: Target.Dependency = server("X509", "swift-certificates")
let yams: Target.Dependency = server("Yams", "Yams")

let package = Package(
    name: "storehook",
    // iOS for the client alone: the servers' targets need newer systems.
    platforms: [.iOS(.v16), .macOS(.v26)],
    products: [
        .library(name: "StorehookClient", targets: ["StorehookClient"]),
        .library(name: "StorehookClientTesting", targets: ["StorehookClientTesting"]),
        .executable(name: "storehook", targets: ["storehook"]),
        .executable(name: "storehook-bench", targets: ["storehook-bench"]),
    ],
    traits: [
        .trait(name: "Server", description: "The programs, and the packages that they need."),
        .default(enabledTraits: ["Server"]),
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
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // What C embeds because Swift cannot: the files of the migrations, what pages are made of, and the commit.
        .target(name: "CEmbedded", path: "Sources/Base/CEmbedded", cSettings: commit),
        // gzip. The HTTP libraries are linked with it as well.
        .systemLibrary(name: "CZlib", path: "Sources/Base/CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CLibPQ", path: "Sources/Storage/CLibPQ", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev", "libssl-dev"])]),
        // What is below everything: time, identifiers, addresses and which may be called, the operator's files, the version.
        .target(
            name: "Base", dependencies: ["CEmbedded", crypto, yams],
            path: "Sources/Base/Base", swiftSettings: rules),
        // Apple's payloads as types. Pure: no I/O, no cryptography.
        .target(
            name: "AppStorePayloads", dependencies: ["Base"],
            path: "Sources/AppStore/AppStorePayloads", swiftSettings: rules),
        // Whether it was Apple who signed a payload or a receipt, and what a receipt says. No I/O.
        .target(
            name: "AppStoreVerification", dependencies: ["AppStorePayloads", "Base", asn1, crypto, x509],
            path: "Sources/AppStore/AppStoreVerification", swiftSettings: rules),
        // Asking Apple. What is asked, when, and what an answer means are values; the transport is a protocol.
        .target(
            name: "AppStoreServerAPI", dependencies: ["AppStorePayloads", "AppStoreVerification", "Base", jwtKit],
            path: "Sources/AppStore/AppStoreServerAPI", swiftSettings: rules),
        // The state of a purchase, as a function of facts and time. Pure.
        .target(
            name: "Subscriptions", dependencies: ["AppStorePayloads", "Base"],
            path: "Sources/Domain/Subscriptions", swiftSettings: rules),
        // An account's status, out of purchases, the catalog and what staff did; the catalog and the policy for refunds. Pure.
        .target(
            name: "Accounts", dependencies: ["AppStorePayloads", "Base", "Subscriptions", crypto, yams],
            path: "Sources/Domain/Accounts", swiftSettings: rules),
        // Which change makes which event, and how it is written. Pure.
        .target(
            name: "Events", dependencies: ["Accounts", "AppStorePayloads", "Base", "Subscriptions"],
            path: "Sources/Domain/Events", swiftSettings: rules),
        // What is counted, and how. Pure.
        .target(
            name: "Figures", dependencies: ["Base", "CZlib", yams], path: "Sources/Domain/Figures", swiftSettings: rules
        ),
        // What each member of the staff may do. Pure.
        .target(name: "Staff", path: "Sources/Domain/Staff", swiftSettings: rules),
        // PostgreSQL over libpq.
        .target(
            name: "Postgres", dependencies: ["Base", "CLibPQ", crypto, logging, serviceLifecycle],
            path: "Sources/Storage/Postgres", swiftSettings: rules),
        // The migrations.
        .target(
            name: "Schema", dependencies: ["CEmbedded", "Postgres"],
            path: "sql", exclude: ["README.md", "migrations", "objects.txt", "roles.sql", "schema.sql"],
            sources: ["Schema.swift", "Schema+objects.swift"],
            swiftSettings: rules),
        // What staff did, in one order; each row holds the hash of the one before.
        .target(
            name: "AuditStore", dependencies: ["Base", "Postgres", crypto],
            path: "Sources/Storage/AuditStore", swiftSettings: rules),
        // Evidence as signed bytes, its dead letters and its retention; the one queue.
        .target(
            name: "EvidenceStore",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Base", "Postgres", "Schema", "Subscriptions"],
            path: "Sources/Storage/EvidenceStore", swiftSettings: rules),
        // Facts, and what is derived from them of each purchase.
        .target(
            name: "PurchaseStore",
            dependencies: ["Accounts", "AppStorePayloads", "Base", "Postgres", "Subscriptions"],
            path: "Sources/Storage/PurchaseStore", swiftSettings: rules),
        // Whose purchases are, what staff did, each account's status, its use of features, and servers' keys.
        .target(
            name: "AccountStore",
            dependencies: [
                "Accounts", "AppStorePayloads", "Base", "Events", "Postgres", "PurchaseStore", "Staff", "Subscriptions",
                crypto, cryptoExtras,
            ],
            path: "Sources/Storage/AccountStore", swiftSettings: rules),
        // Orders: what was bought, paid and refunded, and their numbers.
        .target(
            name: "OrderStore",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Base", "Postgres", "PurchaseStore", "Staff",
                "Subscriptions",
            ],
            path: "Sources/Storage/OrderStore", swiftSettings: rules),
        // Figures: sums of the books by day.
        .target(
            name: "FigureStore", dependencies: ["Accounts", "Base", "Figures", "Postgres", "PurchaseStore"],
            path: "Sources/Storage/FigureStore", swiftSettings: rules),
        // What Apple was asked and what it answered: its history of notifications, test notifications, extensions, consumption.
        .target(
            name: "AppleRecords",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI", "Base", "EvidenceStore",
                "Postgres",
                "PurchaseStore", "Subscriptions", crypto,
            ],
            path: "Sources/Storage/AppleRecords", swiftSettings: rules),
        // Events as they are written, their one order, and what of them waits for each endpoint.
        .target(
            name: "EventStore",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppleRecords", "Base", "Events", "EvidenceStore",
                "Postgres", "PurchaseStore", "Subscriptions", crypto,
            ],
            path: "Sources/Storage/EventStore", swiftSettings: rules),
        // What every HTTP port and every HTTP call has in common.
        .target(
            name: "HTTPKit",
            dependencies: [
                "Base", asn1, asyncHTTPClient, httpTypes, hummingbird, hummingbirdCore, logging, metrics, nioCore,
                nioHTTP1,
                nioHTTPTypes,
                nioHTTPTypesHTTP1, nioPosix, nioSSL, nioTLS, serviceLifecycle, x509,
            ],
            path: "Sources/Services/HTTPKit", swiftSettings: rules),
        // A list of endpoints makes router, validation, answer and OpenAPI document.
        .target(
            name: "APIKit",
            dependencies: [
                "AppStorePayloads", "Base", "HTTPKit", "Postgres", httpTypes, hummingbird, logging, metrics, nioCore,
                serviceLifecycle,
            ],
            path: "Sources/Services/APIKit", swiftSettings: rules),
        // What the programs count and measure, for Prometheus.
        .target(
            name: "Monitoring", dependencies: ["Base", "EvidenceStore", "HTTPKit", "Postgres", metrics],
            path: "Sources/Services/Monitoring", swiftSettings: rules),
        // The way of evidence: verified, applied, settled.
        .target(
            name: "Pipeline",
            dependencies: [
                "AccountStore", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "AppleRecords", "Base",
                "EventStore", "Events", "EvidenceStore", "OrderStore", "Postgres", "PurchaseStore", "Subscriptions",
                logging, metrics,
            ],
            path: "Sources/Services/Pipeline", swiftSettings: rules),
        // What Apple posts to.
        .target(
            name: "Receiver",
            dependencies: [
                "AppStorePayloads", "Base", "EvidenceStore", "HTTPKit", deque, httpTypes, hummingbird, logging, metrics,
                serviceLifecycle,
            ],
            path: "Sources/Services/Receiver", swiftSettings: rules),
        // What claims evidence and takes it through the pipeline; beside it the clock of events.
        .target(
            name: "Worker",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppStoreVerification", "AppleRecords", "Base",
                "EventStore", "Events", "EvidenceStore", "FigureStore", "OrderStore", "Pipeline", "Postgres",
                "PurchaseStore", "Subscriptions", logging, metrics, serviceLifecycle,
            ],
            path: "Sources/Services/Worker", swiftSettings: rules),
        // What is asked of Apple, over HTTP, with the operator's keys.
        .target(
            name: "AppleSync",
            dependencies: [
                "Accounts", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "AppleRecords", "Base",
                "EvidenceStore", "HTTPKit", "Pipeline", "Postgres", "PurchaseStore", "Subscriptions", logging,
                metrics, serviceLifecycle, yams,
            ],
            path: "Sources/Services/AppleSync", swiftSettings: rules),
        // What apps and backends ask.
        .target(
            name: "AccountAPI",
            dependencies: [
                "APIKit", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification",
                "AppleRecords", "Base", "EventStore", "Events", "EvidenceStore", "HTTPKit", "Pipeline", "Postgres",
                "PurchaseStore", "Subscriptions", crypto, httpTypes, jwtKit, logging, metrics, serviceLifecycle,
            ],
            path: "Sources/Services/AccountAPI", swiftSettings: rules),
        // What delivers events to endpoints.
        .target(
            name: "Webhooks",
            dependencies: [
                "AppStorePayloads", "Base", "EventStore", "Events", "EvidenceStore", "HTTPKit", "Postgres",
                "PurchaseStore",
                crypto, logging, metrics, nioSSL, serviceLifecycle,
            ],
            path: "Sources/Services/Webhooks", swiftSettings: rules),
        // What people have done for them: the commands ask it, and a console can.
        .target(
            name: "Operations",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification",
                "AppleRecords", "AuditStore", "Base", "EventStore", "Events", "EvidenceStore", "FigureStore", "Figures",
                "HTTPKit", "OrderStore", "Pipeline", "Postgres", "PurchaseStore", "Staff", "Subscriptions", logging,
                nioCore, nioPosix, serviceLifecycle,
            ],
            path: "Sources/Services/Operations", swiftSettings: rules),
        // What members of the staff ask, by token.
        .target(
            name: "AdminAPI",
            dependencies: [
                "APIKit", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI", "AppleRecords",
                "AuditStore", "Base", "EventStore", "Events", "EvidenceStore", "FigureStore", "Figures", "HTTPKit",
                "Operations", "OrderStore", "Pipeline", "Postgres", "PurchaseStore", "Staff", "Subscriptions",
                httpTypes, logging, metrics, serviceLifecycle,
            ],
            path: "Sources/Services/AdminAPI", swiftSettings: rules),
        // Pages for the staff, made of what the admin API answers.
        .target(
            name: "ConsolePages",
            dependencies: [
                "APIKit", "AccountStore", "Accounts", "AdminAPI", "AppStorePayloads", "Base", "CEmbedded",
                "FigureStore",
                "Figures", "HTTPKit", "Operations", "OrderStore", "Postgres", "Staff", "Subscriptions", crypto,
                httpTypes, hummingbird, logging, metrics, mustache, nioCore, serviceLifecycle,
            ],
            path: "Sources/Services/ConsolePages", exclude: ["Served"], swiftSettings: rules),
        // An Apple-shaped PKI, a store that lives, a stand-in for Apple's servers, a database full of purchases.
        .target(
            name: "Simulation",
            dependencies: [
                "AppStorePayloads", "Base", "Postgres", "PurchaseStore", asn1, asyncHTTPClient, crypto, cryptoExtras,
                httpTypes, hummingbird, jwtKit, logging, nioCore, nioHTTP1, nioHTTPTypes, nioSSL, serviceLifecycle,
                x509,
            ],
            path: "Sources/Simulation", swiftSettings: rules),

        // What apps link: Foundation alone, on systems back to iOS 16. It shares nothing with the targets above.
        .target(
            name: "StorehookClient",
            path: "Sources/Client/StorehookClient", swiftSettings: rules),
        // Where an app buys while it is developed: the stand-in for Apple's servers as the client's App Store.
        .target(
            name: "StorehookClientTesting", dependencies: ["StorehookClient"],
            path: "Sources/Client/StorehookClientTesting", swiftSettings: rules),
        // An app without screens, to try the client with.
        .executableTarget(
            name: "storehook-client-example", dependencies: ["StorehookClient", "StorehookClientTesting"],
            path: "Sources/Client/storehook-client-example", swiftSettings: rules),

        // The commands: the only place that reads the environment and puts the rest together.
        .executableTarget(
            name: "storehook",
            dependencies: [
                "APIKit", "AccountAPI", "AccountStore", "Accounts", "AdminAPI", "AppStorePayloads", "AppStoreServerAPI",
                "AppStoreVerification", "AppleRecords", "AppleSync", "AuditStore", "Base", "ConsolePages", "EventStore",
                "Events", "EvidenceStore", "FigureStore", "Figures", "HTTPKit", "Monitoring", "Operations",
                "OrderStore", "Pipeline", "Postgres", "PurchaseStore", "Receiver", "Schema",
                "Simulation", "Staff", "Subscriptions", "Webhooks", "Worker", argumentParser, configuration,
                crypto, jwtKit, logging, metrics, nioSSL, serviceLifecycle, unixSignals,
            ],
            path: "Sources/Programs/storehook", swiftSettings: rules),
        // The measurements.
        .executableTarget(
            name: "storehook-bench",
            dependencies: [
                "AccountAPI", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreVerification", "Base",
                "EventStore", "Events", "EvidenceStore", "FigureStore", "Figures", "OrderStore", "Postgres",
                "PurchaseStore", "Schema", "Simulation", "Subscriptions", "Worker", argumentParser, asyncHTTPClient,
                crypto, httpTypes, hummingbird, jwtKit, logging, nioCore, nioHTTP1, nioPosix, nioSSL, serviceLifecycle,
                unixSignals,
            ],
            path: "Sources/Programs/storehook-bench", exclude: ["README.md"], swiftSettings: rules),

        // Tests, and what they stand on.
        .testTarget(
            name: "PostgresTests", dependencies: ["Postgres", "TestSupport", serviceLifecycle],
            path: "Tests/PostgresTests", swiftSettings: rules),
        .testTarget(
            name: "AppStorePayloadsTests", dependencies: ["AppStorePayloads", "Base"],
            path: "Tests/AppStorePayloadsTests", swiftSettings: rules),
        .testTarget(
            name: "AppStoreVerificationTests",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Base", "Simulation"],
            path: "Tests/AppStoreVerificationTests", swiftSettings: rules),
        .testTarget(
            name: "AppStoreReceiptsTests",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Base", "Simulation", "TestSupport"],
            path: "Tests/AppStoreReceiptsTests", swiftSettings: rules),
        .testTarget(
            name: "AppStoreServerAPITests",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "Base", "Simulation", crypto, jwtKit,
            ],
            path: "Tests/AppStoreServerAPITests", swiftSettings: rules),
        .testTarget(
            name: "CatalogTests",
            dependencies: ["Accounts", "AppStorePayloads", "AppStoreServerAPI", "Base", "TestSupport", yams],
            path: "Tests/CatalogTests", swiftSettings: rules),
        .testTarget(
            name: "EndpointsTests", dependencies: ["AppStorePayloads", "Base", "Events", "TestSupport", "Webhooks"],
            path: "Tests/EndpointsTests", exclude: ["webhooks_library.py"], swiftSettings: rules),
        .testTarget(
            name: "EventsTests",
            dependencies: [
                "Accounts", "AppStorePayloads", "Base", "Events", "StoreModel", "Subscriptions", "TestSupport", crypto,
            ],
            path: "Tests/EventsTests", swiftSettings: rules),
        .testTarget(
            name: "DomainTests",
            dependencies: ["Accounts", "AppStorePayloads", "AppStoreServerAPI", "Base", "Staff", "TestSupport"],
            path: "Tests/DomainTests", swiftSettings: rules),
        .testTarget(
            name: "AccountsTests",
            dependencies: [
                "Accounts", "AppStorePayloads", "Base", "StoreModel", "Subscriptions", "TestSupport", crypto,
            ],
            path: "Tests/AccountsTests", swiftSettings: rules),
        .testTarget(
            name: "SubscriptionsTests",
            dependencies: [
                "AppStorePayloads", "Base", "Simulation", "StoreModel", "Stories", "Subscriptions", "TestSupport",
                crypto,
            ],
            path: "Tests/SubscriptionsTests", swiftSettings: rules),
        .testTarget(
            name: "QueueTests", dependencies: ["Base", "EvidenceStore", "Postgres", "TestSupport"],
            path: "Tests/QueueTests", swiftSettings: rules),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "AppStorePayloads", "Base", "Postgres", "PurchaseStore", "Schema", "Simulation", "Stories",
                "Subscriptions", "TestSupport", crypto,
            ],
            path: "Tests/LedgerTests", swiftSettings: rules),
        .testTarget(
            name: "UsageTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Base", "Postgres", "Schema", "TestSupport",
            ],
            path: "Tests/UsageTests", swiftSettings: rules),
        .testTarget(
            name: "EndpointStoreTests",
            dependencies: [
                "AppStorePayloads", "Base", "EventStore", "Events", "EvidenceStore", "Postgres", "PurchaseStore",
                "TestSupport", "WebhookSupport",
            ],
            path: "Tests/EndpointStoreTests", swiftSettings: rules),
        .testTarget(
            name: "EventStoreTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppleRecords", "Base", "EventStore", "Events",
                "EvidenceStore", "Pipeline", "Postgres", "PurchaseStore", "Schema", "Subscriptions", "TestSupport",
                "Worker",
                logging, serviceLifecycle,
            ],
            path: "Tests/EventStoreTests", swiftSettings: rules),
        .testTarget(
            name: "OrderStoreTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AuditStore", "Base", "OrderStore", "OrderSupport",
                "Pipeline", "Postgres", "PurchaseStore", "Schema", "Staff", "Subscriptions", "TestSupport", "Worker",
                crypto, logging,
            ],
            path: "Tests/OrderStoreTests", swiftSettings: rules),
        .testTarget(
            name: "FigureStoreTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Base", "FigureStore", "Figures", "OrderSupport",
                "Pipeline", "Postgres", "PurchaseStore", "Subscriptions", "TestSupport",
            ],
            path: "Tests/FigureStoreTests", swiftSettings: rules),
        .testTarget(
            name: "AccountStoreTests",
            dependencies: [
                "APIKit", "AccountAPI", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreVerification",
                "AppleRecords", "AuditStore",
                "Base", "Events", "Pipeline", "Postgres", "PurchaseStore", "Schema", "Simulation", "Staff",
                "StoreModel",
                "Subscriptions", "TestSupport", crypto, httpTypes,
            ],
            path: "Tests/AccountStoreTests", swiftSettings: rules),
        .testTarget(
            name: "HTTPServingTests",
            dependencies: [
                "Base", "HTTPKit", "TestSupport", asyncHTTPClient, httpTypes, hummingbird, logging, nioCore,
                nioEmbedded, nioHTTP1, nioHTTPTypes, nioPosix, nioSSL, nioTLS, serviceLifecycle,
            ],
            path: "Tests/HTTPServingTests", swiftSettings: rules),
        .testTarget(
            name: "MonitoringTests",
            dependencies: [
                "Base", "EvidenceStore", "HTTPKit", "Monitoring", "Postgres", "Schema", "TestSupport", asyncHTTPClient,
                logging, metrics, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/MonitoringTests", swiftSettings: rules),
        // What is answered, beside what documents say it is: no I/O.
        .testTarget(
            name: "AccountAnswersTests",
            dependencies: [
                "APIKit", "AccountAPI", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI",
                "AppStoreVerification", "Base", httpTypes,
            ],
            path: "Tests/AccountAnswersTests", swiftSettings: rules),
        .testTarget(
            name: "AccountAPITests",
            dependencies: [
                "APIKit", "AccountAPI", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI",
                "AppStoreVerification", "AppleRecords", "AppleSync", "Base", "EventStore", "EvidenceStore", "HTTPKit",
                "Pipeline", "Postgres", "PurchaseStore", "Schema", "Simulation", "StandInSupport", "StorehookClient",
                "StorehookClientTesting", "Subscriptions", "TestSupport", "Worker", asyncHTTPClient, crypto,
                cryptoExtras, httpTypes, jwtKit, logging, metrics, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/AccountAPITests", swiftSettings: rules),
        .testTarget(
            name: "AdminAPITests",
            dependencies: [
                "APIKit", "AccountStore", "Accounts", "AdminAPI", "AppStorePayloads", "AppleRecords", "AuditStore",
                "Base", "EventStore", "EvidenceStore", "FigureStore", "Figures", "HTTPKit", "Operations", "OrderStore",
                "Pipeline", "Postgres", "PurchaseStore", "Schema", "Staff", "Subscriptions", "TestSupport",
                asyncHTTPClient, logging, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/AdminAPITests", swiftSettings: rules),
        .testTarget(
            name: "ConsolePagesTests",
            dependencies: [
                "APIKit", "AccountStore", "Accounts", "AdminAPI", "AppStorePayloads", "AppleRecords", "AuditStore",
                "Base", "ConsolePages", "EventStore", "EvidenceStore", "FigureStore", "Figures", "HTTPKit",
                "Operations", "OrderStore", "Pipeline", "Postgres", "PurchaseStore", "Schema", "Staff", "Subscriptions",
                "TestSupport", asyncHTTPClient, httpTypes, logging, nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/ConsolePagesTests", swiftSettings: rules),
        .testTarget(
            name: "AppStoreAccessTests",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "AppleSync", "Base", "HTTPKit",
                "Monitoring",
                "Simulation", "TestSupport", crypto, nioSSL,
            ],
            path: "Tests/AppStoreAccessTests", swiftSettings: rules),
        .testTarget(
            name: "AppleSyncTests",
            dependencies: [
                "AccountAPI", "AccountStore", "Accounts", "AppStorePayloads", "AppStoreServerAPI",
                "AppStoreVerification",
                "AppleRecords",
                "AppleSync", "Base", "EventStore", "EvidenceStore", "Pipeline", "Postgres", "PurchaseStore", "Schema",
                "OrderStore", "Staff", "Simulation",
                "StandInSupport", "Stories", "Subscriptions", "TestSupport", "Worker", crypto, logging,
                metrics, serviceLifecycle,
            ],
            path: "Tests/AppleSyncTests", swiftSettings: rules),
        .testTarget(
            name: "EvidenceIntakeTests",
            dependencies: [
                "AccountStore", "AppStorePayloads", "AppStoreVerification", "Base", "EvidenceStore", "Monitoring",
                "Operations", "Pipeline", "Postgres", "PurchaseStore", "Simulation", "StandInSupport", "Subscriptions",
                "TestSupport", "Worker", metrics,
            ],
            path: "Tests/EvidenceIntakeTests", swiftSettings: rules),
        .testTarget(
            name: "WebhooksTests",
            dependencies: [
                "AppStorePayloads", "Base", "EventStore", "Events", "EvidenceStore", "HTTPKit", "Monitoring",
                "Postgres",
                "TestSupport", "WebhookSupport", "Webhooks", logging, nioSSL, serviceLifecycle,
            ],
            path: "Tests/WebhooksTests", swiftSettings: rules),
        .testTarget(
            name: "FiguresTests",
            dependencies: ["Base", "CZlib", "Figures", "TestSupport"],
            path: "Tests/FiguresTests", swiftSettings: rules),
        .testTarget(
            name: "OperationsTests",
            dependencies: ["AppStoreVerification", "Base", "EvidenceStore", "Operations", "Postgres"],
            path: "Tests/OperationsTests", swiftSettings: rules),
        .testTarget(
            name: "StandInTests",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "Base", "Simulation", "StandInSupport",
                "StorehookClient", "StorehookClientTesting", "TestSupport", asyncHTTPClient, jwtKit, nioCore, nioHTTP1,
            ],
            path: "Tests/StandInTests", exclude: ["apple_judge.py", "apple_library.py"], swiftSettings: rules),
        .testTarget(
            name: "SimulatorTests",
            dependencies: ["AppStorePayloads", "AppStoreVerification", "Base", "Simulation", "Stories"],
            path: "Tests/SimulatorTests", swiftSettings: rules),
        .testTarget(
            name: "SchemaTests", dependencies: ["Postgres", "Schema", "Simulation", "TestSupport"],
            path: "Tests/SchemaTests", swiftSettings: rules),
        .testTarget(
            name: "OutboxTests",
            dependencies: [
                "AppStorePayloads", "AppStoreVerification", "Base", "EvidenceStore", "Postgres", "Schema", "Simulation",
                "Stories", "Subscriptions", "TestSupport", crypto,
            ],
            path: "Tests/OutboxTests", swiftSettings: rules),
        .testTarget(
            name: "ReceiverTests",
            dependencies: [
                "Base", "EvidenceStore", "HTTPKit", "Postgres", "Receiver", "Schema", "Simulation", "TestSupport",
                asyncHTTPClient, nioCore, nioHTTP1, nioSSL, serviceLifecycle,
            ],
            path: "Tests/ReceiverTests", swiftSettings: rules),
        .testTarget(
            name: "WorkerTests",
            dependencies: [
                "AccountStore", "AppStorePayloads", "AppStoreVerification", "AppleRecords", "Base", "EventStore",
                "Events", "EvidenceStore", "FigureStore", "Operations", "Pipeline", "Postgres", "PurchaseStore",
                "Simulation", "StandInSupport", "Subscriptions", "TestSupport", "Worker", logging, serviceLifecycle,
            ],
            path: "Tests/WorkerTests", swiftSettings: rules),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "AppStoreVerification", "AppleRecords", "AuditStore",
                "Base", "EventStore", "Events", "EvidenceStore", "FigureStore", "HTTPKit", "Pipeline",
                "Postgres", "Schema", "Simulation", "Staff", "StandInSupport", "Subscriptions",
                "TestSupport", "WebhookSupport", "storehook", "storehook-client-example", argumentParser,
                asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, nioSSL, serviceLifecycle, yams,
            ],
            path: "Tests/ProgramTests",
            exclude: [
                "Browser/judge.js", "Clients/clients.py", "Golden/outputs", "Impostor/impostor.py",
            ],
            swiftSettings: rules),
        .testTarget(
            name: "StorehookClientTests", dependencies: ["StorehookClient"],
            path: "Tests/StorehookClientTests", swiftSettings: rules),
        // The client as Apple's systems, other packages and later releases see it: by the compiler, from its sources.
        .testTarget(
            name: "ClientPackageTests", dependencies: ["TestSupport"],
            path: "Tests/ClientPackageTests", exclude: ["StorehookClient.api.json", "StorehookClientTesting.api.json"],
            swiftSettings: rules),
        .testTarget(
            name: "FuzzingTests", dependencies: ["FuzzedReaders"],
            path: "Tests/FuzzingTests", swiftSettings: rules),
        // A second model of Apple's store, written from its documents and kept apart from the simulator: a judge.
        .target(
            name: "StoreModel", dependencies: [],
            path: "Tests/StoreModel", swiftSettings: rules),
        // A stand-in that runs while a test does, and workers who trust an Apple of the test's own.
        .target(
            name: "StandInSupport",
            dependencies: [
                "AppStorePayloads", "AppStoreServerAPI", "AppStoreVerification", "AppleSync", "Base", "EvidenceStore",
                "Postgres", "PurchaseStore", "Schema", "Simulation", "TestSupport", "Worker", asyncHTTPClient, logging,
                nioCore, nioHTTP1, serviceLifecycle,
            ],
            path: "Tests/StandInSupport", swiftSettings: rules),
        // Orders in a database, random lives of customers, and what plain SQL makes of the facts.
        .target(
            name: "OrderSupport",
            dependencies: [
                "AccountStore", "Accounts", "AppStorePayloads", "Base", "OrderStore", "Pipeline", "Postgres",
                "PurchaseStore", "Schema", "Subscriptions", "TestSupport", crypto,
            ],
            path: "Tests/OrderSupport", swiftSettings: rules),
        // Endpoints and events in a database.
        .target(
            name: "WebhookSupport",
            dependencies: [
                "AppStorePayloads", "Base", "EventStore", "Events", "Postgres", "PurchaseStore", "Schema",
                "TestSupport", logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Tests/WebhookSupport", swiftSettings: rules),
        // What strangers' bytes reach before a signature has been checked: for the fuzzers, and for a test with their seeds.
        .target(
            name: "FuzzedReaders",
            dependencies: [
                "AppStorePayloads", "AppStoreVerification", "Base", "EvidenceStore", "HTTPKit", httpTypes, nioCore,
                nioEmbedded, nioHTTPTypes,
            ],
            path: "Tests/Fuzzing/FuzzedReaders", swiftSettings: rules),
        // A database for each test, a clock that is set by hand, chance that can be repeated.
        .target(
            name: "TestSupport", dependencies: ["Accounts", "Base", "Postgres", asn1, crypto, logging, x509],
            path: "Tests/TestSupport", swiftSettings: rules),
        // Life stories of customers, as the simulator performs them.
        .target(
            name: "Stories", dependencies: ["Simulation"],
            path: "Tests/Stories", swiftSettings: rules),
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
