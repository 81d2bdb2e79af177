import Foundation

/// Two receivers and two workers, each of one release or the other, on one database.
actor UpgradeSite {
    /// A release's program.
    struct Release: Sendable {
        let name: String
        let executable: URL
    }

    /// What runs on a site: two of each, replaced one after the other.
    enum Part: String, CaseIterable, Sendable {
        case receivers, workers
    }

    private let programs: ChaosPrograms
    private let database: BenchDatabase
    /// Where the receivers listen, and where their operations routes are.
    let ports: [(posts: Int, metrics: Int)]
    private var running: [Part: [SupervisedProgram]] = [:]
    private var deathsOfReplaced = 0

    init(_ programs: ChaosPrograms, _ database: BenchDatabase) throws {
        self.programs = programs
        self.database = database
        var free: [Int] = []
        while free.count < 4 {
            let port = try ChaosPrograms.freePort()
            if !free.contains(port) { free.append(port) }
        }
        ports = [(free[0], free[1]), (free[2], free[3])]
    }

    /// Starts everything, of one release.
    func start(_ release: Release) async throws {
        for part in Part.allCases { running[part] = try [0, 1].map { try program(part, $0, release) } }
        for number in [0, 1] { try await untilReady(number) }
    }

    /// Replaces one of a part: the old one is asked to stop, finishes what it has in hand, and then the new one starts.
    func replace(_ part: Part, _ number: Int, by release: Release) async throws {
        if let old = running[part]?[number] {
            await old.stop()
            deathsOfReplaced += old.starts - 1
        }
        running[part]?[number] = try program(part, number, release)
        if part == .receivers { try await untilReady(number) }
    }

    /// How often the programs ended by themselves and had to be started again.
    var deaths: Int { running.values.joined().reduce(deathsOfReplaced) { $0 + $1.starts - 1 } }

    /// Ends everything.
    func stop() async {
        for program in running.values.joined() { await program.stop() }
        running = [:]
    }

    /// Runs a release's program to its end; throws unless it succeeds.
    func run(_ release: Release, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = release.executable
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = programs.log
        process.standardError = programs.log
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw NeverCameAbout(
                what: "\(arguments.joined(separator: " ")) of the \(release.name) release, which left with "
                    + "\(process.terminationStatus)")
        }
    }

    private func program(_ part: Part, _ number: Int, _ release: Release) throws -> SupervisedProgram {
        let arguments =
            switch part {
            case .receivers:
                [
                    "receive", "--port", "\(ports[number].posts)", "--metrics-port", "\(ports[number].metrics)",
                ]
            case .workers: ["work"]
            }
        return try SupervisedProgram(
            release.executable, arguments, environment: environment, log: programs.log)
    }

    private func untilReady(_ number: Int) async throws {
        let (programs, port) = (programs, ports[number].metrics)
        try await patiently("receiver \(number + 1) is ready", within: .seconds(30)) {
            await programs.isReady(metricsPort: port)
        }
    }

    /// A release that knows no leeway derives statuses without any: both are to derive the same.
    private var environment: [String: String] {
        programs.environment(database.url).merging(["STOREHOOK_RENEWAL_LEEWAY": "0"]) { _, own in own }
    }
}
