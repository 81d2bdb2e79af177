import Foundation

/// Machines on a network of their own: kernel namespaces that share one bridge. Needs root. The addresses are reserved
/// for measurements (RFC 2544) and never routed.
struct ChaosNetwork: Sendable {
    /// This machine's address in it.
    let address: String
    /// All its addresses.
    let range: String
    private let ip: SystemTool
    private let bridge: String
    private let log: FileHandle
    private let members: [String]

    /// Sets one up with so many members beside this machine, up to five, and takes it away after `body`.
    /// - Throws: ``ChaosObstacle`` where the kernel refuses, as it does in most containers.
    static func with<T>(members count: Int, log: FileHandle, _ body: (ChaosNetwork) async throws -> T) async throws -> T
    {
        guard let ip = SystemTool.named("ip") else { throw ChaosObstacle(why: "needs ip, of the package iproute2") }
        let process = ProcessInfo.processInfo.processIdentifier
        // deploy/chaos takes away what bears its program's number, should that have been killed.
        let network = ChaosNetwork(
            address: "198.18.\(process % 256).1", range: "198.18.\(process % 256).0/29", ip: ip,
            bridge: "chaos\(process)", log: log, members: (0..<count).map { "storehook-chaos-\(process)-\($0)" })
        do {
            try await network.setUp()
        } catch {
            await network.takeAway()
            throw ChaosObstacle(why: "needs to make network namespaces, and the kernel refuses")
        }
        do {
            let result = try await body(network)
            await network.takeAway()
            return result
        } catch {
            await network.takeAway()
            throw error
        }
    }

    /// What runs a command as a member's.
    func command(of member: Int) -> [String] { [ip.executable.path, "netns", "exec", members[member]] }

    /// Takes a member off the bridge: what is sent by it or to it is lost without a word, and its own interface stays up,
    /// as when a switch fails.
    func cut(_ member: Int) async throws { try await run("link", "set", port(member), "nomaster") }

    /// Puts it back.
    func join(_ member: Int) async throws { try await run("link", "set", port(member), "master", bridge) }

    private func setUp() async throws {
        try await run("link", "add", bridge, "type", "bridge")
        try await run("address", "add", "\(address)/29", "dev", bridge)
        try await run("link", "set", bridge, "up")
        for (number, member) in members.enumerated() {
            try await run("netns", "add", member)
            try await run("link", "add", port(number), "type", "veth", "peer", "name", "eth0", "netns", member)
            try await run("-n", member, "address", "add", "\(address.dropLast())\(number + 2)/29", "dev", "eth0")
            try await run("-n", member, "link", "set", "eth0", "up")
            try await run("link", "set", port(number), "up")
            try await join(number)
        }
    }

    private func takeAway() async {
        for (number, member) in members.enumerated() {
            try? await run("link", "delete", port(number))
            try? await run("netns", "delete", member)
        }
        try? await run("link", "delete", bridge)
    }

    private func port(_ member: Int) -> String { "\(bridge)-\(member)" }

    private func run(_ arguments: String...) async throws { try await ip.run(arguments, log: log) }
}
