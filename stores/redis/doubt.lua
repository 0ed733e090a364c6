-- needs: clock
-- Writes down, for all processes, that the clock has leapt: until an operator has looked at it
-- nothing ends and no EFFECTFUL key is granted.
if leapt and redis.call('HEXISTS', META, 'id') == 1 then
  redis.call('HSETNX', META, 'leapt', text(now))
  redis.call('HSETNX', META, 'suspect', 'the clock of the server leapt ahead by more than ' ..
    text((now - tonumber(ARGV[1])) / SECOND) .. ' s')
end
return told('done')
