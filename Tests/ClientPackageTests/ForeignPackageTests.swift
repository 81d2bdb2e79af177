import Foundation
import TestSupport
import Testing

/// A package of an app's own links the client, and packages of its own choice beside it.
@Suite("A package that depends on this one without traits")
struct ForeignPackageTests {
    /// A package that the servers pin, in a version that they do not take.
    private static let stranger = (identity: "swift-log", version: "0.1.0")

    @Test(
        "fetches no dependency of the servers, takes another version of one of them, and with all samples links it",
        arguments: sampled(["path", "tag"]))
    func linked(_ how: String) async throws {
        try await Compiler.with { compiler in
            let world = compiler.directory
            // Whatever is fetched from there comes from here: there is only the stranger.
            try await Self.publish(
                Self.strangers, in: world.appending(path: "apple/\(Self.stranger.identity)"), Self.stranger.version)
            var dependency = "path: \"\(packageRoot.path)\""
            if how == "tag" {
                let copy = world.appending(path: "storehook")
                try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
                for part in ["Package.swift", "Sources", "Tests", "sql"] {
                    try FileManager.default.copyItem(
                        at: packageRoot.appending(path: part), to: copy.appending(path: part))
                }
                try await Self.publish([:], in: copy, "1.0.0")
                dependency = "url: \"file://\(copy.path)\", exact: \"1.0.0\""
            }
            let app = world.appending(path: "app")
            try Self.write(Self.app(dependency, packageRoot.lastPathComponent), in: app)
            var environment = ProcessInfo.processInfo.environment
            // Another rule of this machine's would count before ours.
            environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
            environment["GIT_CONFIG_NOSYSTEM"] = "1"
            environment["GIT_CONFIG_COUNT"] = "1"
            environment["GIT_CONFIG_KEY_0"] = "url.file://\(world.path)/.insteadOf"
            environment["GIT_CONFIG_VALUE_0"] = "https://github.com/"
            let said = try await ChildProgram.run(
                "/usr/bin/env",
                (takesAllSamples ? ["swift", "run"] : ["swift", "package"]) + [
                    "--package-path", app.path, "--cache-path", world.appending(path: "cache").path,
                    "--config-path", world.appending(path: "config").path,
                    "--security-path", world.appending(path: "security").path,
                ] + (takesAllSamples ? ["--disable-index-store", "-debug-info-format", "none", "app"] : ["resolve"]),
                environment: environment)
            if takesAllSamples { #expect(said == "linked beside a stranger\n") }
            let resolved = try JSONDecoder().decode(
                Resolved.self, from: Data(contentsOf: app.appending(path: "Package.resolved")))
            let own = how == "tag" ? ["storehook 1.0.0"] : []
            #expect(
                resolved.pins.map { "\($0.identity) \($0.state.version)" }.sorted()
                    == own + ["\(Self.stranger.identity) \(Self.stranger.version)"])
            let checkouts = try FileManager.default.contentsOfDirectory(
                atPath: app.appending(path: ".build/checkouts").path)
            #expect(checkouts.sorted() == (how == "tag" ? ["storehook"] : []) + [Self.stranger.identity])
        }
    }

    /// What SwiftPM has resolved.
    private struct Resolved: Decodable {
        struct Pin: Decodable {
            struct State: Decodable { var version: String }
            var identity: String
            var state: State
        }
        var pins: [Pin]
    }

    private static let strangers = [
        "Package.swift": """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "\(stranger.identity)", products: [.library(name: "Logging", targets: ["Logging"])],
            targets: [.target(name: "Logging")])
        """,
        "Sources/Logging/Stranger.swift": "public let stranger = \"a stranger\"\n",
    ]

    private static func app(_ dependency: String, _ folder: String) -> [String: String] {
        // A package at a path is known by its folder's name.
        let identity = dependency.hasPrefix("path") ? folder : "storehook"
        return [
            "Package.swift": """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "app",
                platforms: [.macOS(.v26)],
                dependencies: [
                    .package(\(dependency), traits: []),
                    .package(url: "https://github.com/apple/\(stranger.identity)", exact: "\(stranger.version)"),
                ],
                targets: [
                    .executableTarget(
                        name: "app",
                        dependencies: [
                            .product(name: "StorehookClient", package: "\(identity)"),
                            .product(name: "Logging", package: "\(stranger.identity)"),
                        ])
                ])
            """,
            "Sources/app/main.swift": """
            import Foundation
            import Logging
            import StorehookClient

            let product = StoreProduct(id: "pro", displayName: "linked", price: 1, displayPrice: "$1")
            print(product.displayName, "beside", stranger)

            """,
        ]
    }

    private static func write(_ files: [String: String], in folder: URL) throws {
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    /// Makes a git repository of the folder, with these files as well, and tags it.
    private static func publish(_ files: [String: String], in folder: URL, _ version: String) async throws {
        try write(files, in: folder)
        for words in [
            ["init", "--quiet"], ["add", "--all"],
            ["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message", version],
            ["tag", version],
        ] {
            _ = try await ChildProgram.run("/usr/bin/env", ["git", "-C", folder.path] + words)
        }
    }
}
