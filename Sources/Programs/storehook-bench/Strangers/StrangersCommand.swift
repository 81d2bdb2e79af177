import ArgumentParser
import Foundation
import Glibc
import Simulation
import Synchronization

/// What strangers cost under every attack at once: the receiver's memory, and the waiting time of honest senders.
struct StrangersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strangers",
        abstract: "A receiver's memory, and what honest senders wait, while strangers do their worst.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, and the storehook program beside this one.
            Everything happens on the loopback interface: the strangers are threads of this process that give way to all others
            (nice 19). Honest posts come on a new connection each. Fails where one is not answered 200, where the receiver holds
            256 MiB or more, or where the 99th percentile of the honest posts is 100 ms or more.

            Example: storehook-bench strangers --seconds 60
            """)

    @Option(
        help: "Comma-separated: \(StrangerAttack.allCases.map(\.rawValue).joined(separator: ", ")); all by default.")
    var attacks: String?
    @Option(help: "Seconds of it.") var seconds = 60.0
    @Option(help: "Honest posts meanwhile, evenly.") var posts = 200
    @Option(help: "MiB of junk that is stored, in all.") var junk = 256
    @Flag(help: "Strangers come from the honest senders' own address, rather than from sixteen others.")
    var neighbours = false
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...600).contains(seconds), (1...10_000).contains(posts), (1...4096).contains(junk) else {
            throw ValidationError("--seconds goes from 1 to 600, --posts to 10000, --junk to 4096")
        }
        _ = try chosen()
    }

    private func chosen() throws -> [StrangerAttack] {
        guard let attacks else { return StrangerAttack.allCases }
        return try attacks.split(separator: ",").map { name in
            guard let attack = StrangerAttack(rawValue: String(name)) else {
                throw ValidationError("there is no attack \(name); see storehook-bench strangers --help")
            }
            return attack
        }
    }

    /// What honest senders met with.
    private struct Honest {
        var latencies = Latencies()
        var answered = 0
        var healthy = 0
        var unhealthy = 0
    }

    func run() async throws {
        raiseOpenFiles()
        let chosen = try chosen()
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        let (figures, isGood) = try await BenchDatabase.with { database in
            let receiver = try programs.receiver(database.url)
            do {
                try await patiently("the receiver answers", within: .seconds(20)) { await programs.receiverIsReady() }
                let result = try await measure(chosen, programs, receiver)
                await receiver.stop()
                return result
            } catch {
                await receiver.stop()
                throw error
            }
        }
        figures.print(json: json)
        if !isGood { throw ExitCode.failure }
    }

    private func measure(
        _ attacks: [StrangerAttack], _ programs: ChaosPrograms, _ receiver: SupervisedProgram
    ) async throws -> (Figures, isGood: Bool) {
        guard let id = receiver.id else { throw NeverCameAbout(what: "a receiver that lives") }
        let terms = StrangerAttack.Terms(
            port: programs.port, end: .now + .seconds(seconds), junkBytes: junk << 20, seconds: seconds,
            isNeighbour: neighbours)
        let requests = try (0..<posts).map { try LoadRequest.post(Array(programs.probe($0).text.utf8)) }
        async let behaving = behave(requests, terms, programs)
        let tallies = await withTaskGroup(of: (StrangerAttack, StrangerAttack.Tally).self) { group in
            for attack in attacks { group.addTask { (attack, await attack.run(terms)) } }
            return await group.reduce(into: [StrangerAttack: StrangerAttack.Tally]()) { $0[$1.0] = $1.1 }
        }
        let honest = await behaving
        let peak = Double(ProcessMemory.peak(id) ?? 0) / 1_048_576
        var figures = Figures("strangers")
        for attack in attacks {
            guard let tally = tallies[attack] else { continue }
            let name = attack.rawValue.replacing("-", with: "_")
            figures.add(
                "\(name)_connections", Double(tally.connections.load(ordering: .relaxed)),
                "\(attack.rawValue): connections")
            figures.add(
                "\(name)_mib", Double(tally.bytes.load(ordering: .relaxed)) / 1_048_576, "\(attack.rawValue): MiB taken"
            )
        }
        figures.add("honest_posts", Double(posts), "honest posts")
        figures.add("honest_answered", Double(honest.answered), "of them answered 200")
        honest.latencies.add(to: &figures, "honest", "connecting and post to its 200")
        figures.add("healthy", Double(honest.healthy), "health checks answered 200")
        figures.add("unhealthy", Double(honest.unhealthy), "health checks not answered 200")
        figures.add("peak_mib", peak, "the most that the receiver held, MiB")
        let isGood =
            honest.answered == posts && honest.unhealthy == 0 && peak < 256 && receiver.starts == 1
            && honest.latencies.milliseconds(percentile: 99) < 100
        return (figures, isGood)
    }

    /// Posts as Apple does, each on a connection of its own, and asks after the receiver's health.
    private func behave(
        _ requests: [[UInt8]], _ terms: StrangerAttack.Terms, _ programs: ChaosPrograms
    ) async -> Honest {
        var honest = Honest()
        for (index, request) in requests.enumerated() {
            let began = ContinuousClock.now
            let isAnswered = await withCheckedContinuation { done in
                Thread.detachNewThread {
                    let socket = StrangerSocket(to: terms.port, from: (0, 1), patience: 10)
                    let answer = socket.map { $0.send(request) ? $0.answer() : "" } ?? ""
                    socket?.close()
                    done.resume(returning: answer.hasPrefix("HTTP/1.1 200 "))
                }
            }
            honest.latencies.record(ContinuousClock.now - began)
            if isAnswered { honest.answered += 1 }
            if index % 10 == 0 {
                if await programs.receiverIsReady() { honest.healthy += 1 } else { honest.unhealthy += 1 }
            }
            let next = terms.end - .seconds(seconds * (1 - Double(index + 1) / Double(requests.count)))
            try? await Task.sleep(until: next, clock: .continuous)
        }
        return honest
    }

    /// The strangers' ends of their connections are open files of this process.
    private func raiseOpenFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
